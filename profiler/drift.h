// Where two tensors that should be the same bytes are not. Bytes decide, never values: -0 is not
// +0 and a NaN's payload counts.
#pragma once

#include "profiler/tensor.h"
#include "proto/assay.pb.h"

#include <cstddef>
#include <optional>
#include <string>

namespace assay::profiler {

// A difference of at most this many units in the last place is called ulp-sized.
inline constexpr std::uint64_t kUlpSized = 1024;

// Nullopt when all live bytes are equal. Requires validate(layout) to be OK; both arrays hold the
// whole tensor.
std::optional<v1::Drift> find_drift(const TensorLayout& layout,
                                    const std::byte* expected,
                                    const std::byte* found);

// "3 of 1,024 elements of `out` differ, first out[0, 17]: expected 0x3f800000 (1), found
// 0x3f800001 (1.0000001), largest distance 1 ulp, ulp-sized"
std::string describe(const v1::Drift& drift);

}  // namespace assay::profiler
