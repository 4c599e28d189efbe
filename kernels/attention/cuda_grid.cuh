// Sizes of launches, from host arithmetic only.
#pragma once

#include "kernels/attention/cuda_merge.cuh"
#include "kernels/attention/cuda_staged.cuh"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::attention {

struct Grid {
  std::int64_t num_blocks = 0;
  std::int32_t num_threads = 0;
  std::int32_t shared_bytes = 0;
};

inline std::int32_t staged_bytes(std::int32_t dim, const StagedPlan& plan) {
  return dim == 128 ? StagedMemory<128>::bytes(plan) : StagedMemory<256>::bytes(plan);
}

struct MergeGrid {
  Grid grid;
  bool is_shared = false;  // a block's warps share a part of a head
};

// For rows of up to `num_groups` groups, which may begin within a run, and `run_states` states to a
// run: a warp for a batch of states, until there are many warps. Heads that share a warp have 16
// places each.
inline MergeGrid merge_grid(std::int64_t num_rows,
                            std::int32_t num_heads,
                            std::int32_t dim,
                            std::int32_t num_groups,
                            std::int32_t run_states) {
  constexpr std::int32_t kWarpStates = 8;
  constexpr std::int64_t kManyWarps = 2'048;
  constexpr std::int32_t kMostLoneStates = 16;
  const std::int32_t runs = num_runs_of(num_groups);
  const std::int64_t parts = num_rows * num_heads * (dim / kSharedMergeDims);
  const std::int64_t by_states = (runs * run_states + kWarpStates - 1) / kWarpStates;
  const std::int64_t by_parts =
      parts == 0 ? 1 : std::max<std::int64_t>(kManyWarps / parts, parts < kManyWarps ? 2 : 1);
  const auto warps = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      std::min(by_states, by_parts), 1, std::clamp(runs, 1, kMostMergeWarps)));
  if (warps > 1 || run_states > kMostLoneStates) {
    return {.grid = {.num_blocks = parts,
                     .num_threads = warps * kLanes,
                     .shared_bytes = MergeMemory::bytes(runs + 1)},
            .is_shared = true};
  }
  const std::int32_t heads = kLoneMergeDims / dim;
  const std::int64_t tasks = num_rows * ((num_heads + heads - 1) / heads);
  return {.grid = {.num_blocks = (tasks + kMostMergeWarps - 1) / kMostMergeWarps,
                   .num_threads = kMostMergeWarps * kLanes}};
}

}  // namespace assay::kernels::attention
