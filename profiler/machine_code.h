// The digest of a kernel's machine code: its instructions, their relocations and the constants that
// the compiler put beside them, whatever the kernel is called. Code that it calls in other sections
// and data of the module count by their names only.
#pragma once

#include "profiler/digest.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace assay::profiler {

// `cubin` is a 64-bit little-endian ELF file, `kernel` a mangled name. NOT_FOUND names the kernel,
// INVALID_ARGUMENT says what is malformed.
absl::StatusOr<Digest> machine_code_digest(std::span<const std::byte> cubin,
                                           std::string_view kernel);

}  // namespace assay::profiler
