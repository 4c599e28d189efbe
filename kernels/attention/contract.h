// Attention of bf16 rows over keys at absolute positions, as tree_attention and block_attention
// share it. Bit contract of the baseline family, per (row, query head), sums in this order only:
//   dot     D / 16 tensor-core steps, ascending, from +0
//   slice   128 adjacent keys: one maximum, weights, their sum (softmax.h), the value product in 8
//           tensor-core steps, ascending, from +0
//   group   4 slices in order; run: 8 groups in order; row: its runs in order (softmax.h)
// Slices, groups and runs count from position 0 and are skipped when the row sees none of their
// keys.
#pragma once

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kSliceKeys = 128;
inline constexpr int kSlices = 4;
inline constexpr int kGroupKeys = kSliceKeys * kSlices;
inline constexpr int kRunGroups = 8;
inline constexpr int kRunKeys = kGroupKeys * kRunGroups;

inline constexpr int kMostHeadsPerKey = 16;  // query heads of a key head
inline constexpr int kTilePairs = 16;        // (row, query head) pairs of a tensor-core tile
inline constexpr int kStepKeys = 16;         // k of a tensor-core step
inline constexpr int kSumLanes = 8;          // partial sums of a slice's weights

// Positions [begin, end): what a row sees. Always one range, in both operators.
struct KeyRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

// What a stream is for plans: its rows, and the keys that any of them shares or sees.
struct StreamLoad {
  std::int32_t num_rows = 0;
  KeyRange keys;
};

constexpr std::int32_t num_groups_of(std::int64_t num_keys) {
  return static_cast<std::int32_t>((num_keys + kGroupKeys - 1) / kGroupKeys);
}

constexpr std::int32_t num_runs_of(std::int64_t num_groups) {
  return static_cast<std::int32_t>((num_groups + kRunGroups - 1) / kRunGroups);
}

}  // namespace assay::kernels::attention
