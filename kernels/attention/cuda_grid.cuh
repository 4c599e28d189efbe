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

// Warps that merge a (row, head) of up to `num_groups` groups, which may begin within a run, and
// `run_states` states to a run: one for a batch of states.
inline std::int32_t merge_warps(std::int32_t num_groups, std::int32_t run_states) {
  constexpr std::int32_t kWarpStates = 8;
  const std::int32_t runs = num_runs_of(num_groups);
  return std::clamp((runs * run_states + kWarpStates - 1) / kWarpStates,
                    1,
                    std::min(runs + 1, kMostMergeWarps));
}

// `num_results` (row, head). Results of one warp share blocks.
inline Grid merge_grid(std::int64_t num_results,
                       std::int32_t dim,
                       std::int32_t num_groups,
                       std::int32_t num_warps) {
  const std::int64_t parts = num_results * (dim / kMergeDims);
  return num_warps == 1 ? Grid{.num_blocks = (parts + kMostMergeWarps - 1) / kMostMergeWarps,
                               .num_threads = kMostMergeWarps * kLanes}
                        : Grid{.num_blocks = parts,
                               .num_threads = num_warps * kLanes,
                               .shared_bytes = MergeMemory::bytes(num_runs_of(num_groups) + 1)};
}

}  // namespace assay::kernels::attention
