// Where two tensors that should be the same bytes are not. Bytes decide, never values: -0 is not
// +0 and a NaN's payload counts.
#pragma once

#include "profiler/tensor.h"
#include "proto/assay.pb.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace assay::profiler {

// A difference of at most this many units in the last place is called ulp-sized.
inline constexpr std::uint64_t kUlpSized = 1024;

// Nullopt when all live bytes are equal. Requires validate(layout) to be OK; both arrays hold the
// whole tensor.
std::optional<v1::Drift> find_drift(const TensorLayout& layout,
                                    const std::byte* expected,
                                    const std::byte* found);

// Elements [begin, end) that must be those of another tensor from `found_begin` on.
struct MatchedRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t found_begin = 0;
};

// The same between tensors of one dtype and other shapes; `layout` and places are of `expected`.
std::optional<v1::Drift> find_drift(const TensorLayout& layout,
                                    const std::byte* expected,
                                    const std::byte* found,
                                    std::span<const MatchedRange> matched);

// "3 of 1,024 elements of `out` differ, first out[0, 17]: expected 0x3f800000 (1), found
// 0x3f800001 (1.0000001), largest distance 1 ulp, ulp-sized"
std::string describe(const v1::Drift& drift);

}  // namespace assay::profiler
