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

// `num_results` (row, head) of up to `num_groups` groups, which may begin within a run, and
// `run_states` states to a run: a warp for a batch of states.
inline Grid merge_grid(std::int64_t num_results,
                       std::int32_t dim,
                       std::int32_t num_groups,
                       std::int32_t run_states) {
  constexpr std::int32_t kWarpStates = 8;
  const std::int32_t runs = num_runs_of(num_groups) + 1;
  const std::int32_t warps = std::clamp(((runs - 1) * run_states + kWarpStates - 1) / kWarpStates,
                                        1,
                                        std::min(runs, kMostMergeWarps));
  return {.num_blocks = num_results * (dim / kMergeDims),
          .num_threads = warps * kLanes,
          .shared_bytes = MergeMemory::bytes(runs)};
}

}  // namespace assay::kernels::attention
