// What a cubin says of its kernels without a device.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// Mangled names, sorted. INVALID_ARGUMENT says what is malformed.
absl::StatusOr<std::vector<std::string>> kernels_of(std::span<const std::byte> cubin);

// Bytes of shared memory that the kernel itself declares, of `architecture` "sm_90": from sm_90 on
// its section also counts what the driver keeps. INVALID_ARGUMENT as above.
absl::StatusOr<std::int64_t> static_shared_bytes(std::span<const std::byte> cubin,
                                                 std::string_view kernel,
                                                 std::string_view architecture);

// Bytes of each of the kernel's parameters, in order. NOT_FOUND: the cubin says nothing of such a
// kernel; INVALID_ARGUMENT as above.
absl::StatusOr<std::vector<std::int64_t>> parameter_bytes(std::span<const std::byte> cubin,
                                                          std::string_view kernel);

}  // namespace assay::profiler
