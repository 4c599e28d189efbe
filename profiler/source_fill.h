// The bytes of a source's input that comes from no file: a pure function of the fill, the seed and
// the tensor's name, the same on every host.
#pragma once

#include "kernels/operator.h"
#include "proto/assay.pb.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::profiler {

// `tensor` is complete (tuning/source_spec.h); `bytes` are whole elements of `dtype`.
void fill_source(const v1::SourceTensor& tensor,
                 kernels::DType dtype,
                 std::uint64_t seed,
                 std::span<std::byte> bytes);

}  // namespace assay::profiler
