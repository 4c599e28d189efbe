// From a call's shape and launch parameters to grids: host arithmetic only, so that it is the same
// where no device is.
#pragma once

#include "kernels/attention/cuda_grid.cuh"
#include "kernels/block_attention/cuda_staged.cuh"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::block_attention {

// Launch parameters as written; 0 stands for auto.
struct StagedChoice {
  std::int32_t stages = 0;
  std::int32_t tile = attention::kStepKeys;
  bool spills_runs = false;
  bool skips = true;
  std::int32_t sms = 1;  // of the device
  bool stores_result = true;
};

struct StagedLaunch {
  attention::Grid attend;
  attention::Grid merge;
  StagedGrid grid;
  MergePlan merge_plan;
};

// Slots enough for two blocks an SM, at most one for each group or run that a window reaches;
// stages so that the smallest tile's rings fit 99 KiB.
inline StagedLaunch plan_staged(const Shape& shape, const StagedChoice& choice) {
  constexpr std::int64_t kBlocksPerSm = 2;
  const std::int64_t pairs = std::int64_t{shape.width} * shape.group();
  const std::int64_t most_keys = std::int64_t{shape.window} + 2 * shape.width;
  const std::int64_t in_window = most_keys / attention::kGroupKeys + 2;
  const std::int64_t groups =
      choice.skips ? std::min<std::int64_t>(shape.num_groups, in_window) : shape.num_groups;
  const std::int64_t units =
      choice.spills_runs ? std::min<std::int64_t>(attention::num_runs_of(groups) + 1, groups)
                         : groups;

  StagedLaunch launch;
  StagedGrid& grid = launch.grid;
  grid.num_tiles =
      static_cast<std::int32_t>((pairs + attention::kTilePairs - 1) / attention::kTilePairs);
  const std::int64_t blocks = std::int64_t{shape.num_streams} * shape.num_kv_heads * grid.num_tiles;
  const std::int64_t wanted =
      (kBlocksPerSm * choice.sms + blocks - 1) / std::max<std::int64_t>(blocks, 1);
  grid.num_slots = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(units, 1)));
  grid.block = {.num_stages = choice.stages != 0 ? choice.stages
                              : shape.dim == 128 ? 3
                                                 : 2,
                .tile = choice.tile,
                .is_four_warp = true,
                .spills_runs = choice.spills_runs,
                .skips = choice.skips};

  launch.attend = {.num_blocks = blocks * grid.num_slots,
                   .num_threads = attention::kSlices * attention::kLanes,
                   .shared_bytes = attention::staged_bytes(shape.dim, grid.block)};
  const auto most_groups = static_cast<std::int32_t>(groups);
  const attention::MergeGrid merge =
      attention::merge_grid(shape.num_rows(),
                            shape.num_heads,
                            shape.dim,
                            most_groups,
                            choice.spills_runs ? 1 : attention::kRunGroups);
  launch.merge = merge.grid;
  launch.merge_plan = {.spills_runs = choice.spills_runs,
                       .stores_result = choice.stores_result,
                       .is_shared = merge.is_shared};
  return launch;
}

}  // namespace assay::kernels::block_attention
