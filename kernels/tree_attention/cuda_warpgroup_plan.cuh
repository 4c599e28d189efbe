// From a call's shape and the launch parameters of `warpgroup` to grids: host arithmetic only.
#pragma once

#include "kernels/attention/cuda_axes.h"
#include "kernels/attention/cuda_warpgroup_plan.cuh"
#include "kernels/tree_attention/cuda_plan.cuh"
#include "kernels/tree_attention/cuda_warpgroup.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {

struct WarpgroupLaunch {
  attention::Grid attend;
  attention::Grid merge;
  std::int32_t pairs = attention::kWarpgroupPairs;  // of a block
  WarpgroupGrid grid;
  WarpgroupMergePlan merge_plan;
};

inline std::int32_t shared_tail_bytes(std::int32_t dim) {
  return static_cast<std::int32_t>(dim == 128 ? sizeof(attention::SharedSliceMemory<128>)
                                              : sizeof(attention::SharedSliceMemory<256>));
}

// Few tails have a block each.
inline TailPlan plan_tails(std::int32_t dim,
                           std::int64_t num_tails,
                           std::int32_t num_slots,
                           std::int32_t num_warps,
                           std::int32_t memory_bytes) {
  TailPlan plan;
  plan.is_shared = num_tails <= num_slots && shared_tail_bytes(dim) <= memory_bytes;
  if (plan.is_shared) {
    plan.num_blocks = static_cast<std::int32_t>(num_tails);
    return plan;
  }
  const std::int32_t own_bytes =
      attention::kTilePairs * dim * 2 +
      attention::kRolledFloats * static_cast<std::int32_t>(sizeof(float));
  const auto bytes_of = [&](std::int32_t stages, std::int32_t tile) {
    return own_bytes + stages * tile * dim * 2;
  };
  plan.num_warps =
      std::min(num_warps, memory_bytes / bytes_of(attention::kLeastStages, attention::kStepKeys));
  plan.num_blocks = static_cast<std::int32_t>(
      std::min<std::int64_t>((num_tails + plan.num_warps - 1) / plan.num_warps, num_slots));
  plan.warp_bytes =
      memory_bytes / plan.num_warps / attention::kPanelAlignment * attention::kPanelAlignment;
  plan.block = {.num_stages = attention::kLeastStages, .is_four_warp = false};
  for (const std::int32_t tile : attention::kTileChoices) {
    for (std::int32_t stages = attention::kLeastStages; stages <= attention::kMostStages;
         ++stages) {
      if (bytes_of(stages, tile) <= plan.warp_bytes) {
        plan.block.num_stages = stages;
        plan.block.tile = tile;
      }
    }
  }
  return plan;
}

inline WarpgroupLaunch plan_warpgroup(const Shape& shape,
                                      const attention::WarpgroupChoice& choice) {
  const std::int64_t pairs = std::int64_t{shape.num_rows} * shape.group();
  const std::int64_t stream_pairs = pairs / std::max(shape.num_streams, 1);
  const std::int32_t groups = capacity_groups(shape, choice.capacity);

  WarpgroupLaunch launch;
  std::vector<attention::StreamLoad> loads = shape.streams;
  for (attention::StreamLoad& load : loads) {
    load.keys.end -= load.keys.end % attention::kSliceKeys;
  }
  const attention::HeadGroups heads = {shape.num_kv_heads, shape.group()};
  launch.pairs = attention::warpgroup_pairs(shape.dim, stream_pairs, loads, heads, choice);
  WarpgroupGrid& grid = launch.grid;
  grid.tile_pairs = launch.pairs;
  grid.num_stages = attention::warpgroup_stages(shape.dim, launch.pairs, choice);
  const std::int32_t slots =
      choice.sms * attention::warpgroup_blocks_per_sm(shape.dim, launch.pairs, grid.num_stages);
  const auto streams = attention::cut_streams(loads, heads, grid.tile_pairs, choice.capacity);
  const std::int64_t num_slices = attention::num_slices_of(streams);
  grid.items =
      attention::plan_items(streams,
                            slots,
                            attention::warpgroup_spill(shape.dim, choice.spill, slots, num_slices),
                            attention::share_of_pairs(stream_pairs));
  launch.attend = attention::warpgroup_grid(shape.dim, launch.pairs, grid.num_stages, 0);
  grid.tails =
      plan_tails(shape.dim,
                 std::int64_t{shape.num_rows} * shape.num_kv_heads,
                 slots,
                 (launch.attend.num_threads - attention::kWarpgroupThreads) / attention::kLanes,
                 launch.attend.shared_bytes);
  // Room for tails beside the items where there are few; one group more, for slices of none that is
  // whole.
  const std::int64_t items =
      (num_slices + attention::kSlices) / std::min(grid.items.piece_slices, attention::kSlices);
  grid.num_blocks = items + grid.tails.num_blocks <= slots ? slots - grid.tails.num_blocks : slots;
  // Few delay the items less than the merge, which begins when all blocks have.
  constexpr std::int32_t kFewTails = 16;
  const bool is_first = grid.tails.num_blocks <= kFewTails || grid.num_blocks < slots;
  grid.tails.first_block = is_first ? 0 : grid.num_blocks;
  launch.attend.num_blocks = pairs == 0 ? 0 : grid.num_blocks + grid.tails.num_blocks;
  const std::int32_t most_groups = std::max(groups, shape.num_groups);
  const attention::MergeGrid merge =
      attention::merge_grid(shape.num_rows,
                            shape.num_heads,
                            shape.dim,
                            most_groups,
                            attention::run_states(grid.items, num_slices));
  launch.merge = merge.grid;
  launch.merge_plan = {.merge = {.has_slices = grid.items.leaves_slices(),
                                 .spills_runs = !grid.items.leaves_slices(),
                                 .stores_result = choice.stores_result,
                                 .is_shared = merge.is_shared},
                       .grid = grid};
  return launch;
}

}  // namespace assay::kernels::tree_attention
