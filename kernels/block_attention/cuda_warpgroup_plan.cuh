// From a call's shape and the launch parameters of `warpgroup` to grids: host arithmetic only.
#pragma once

#include "kernels/attention/cuda_warpgroup_plan.cuh"
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/cuda_warpgroup.cuh"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::block_attention {

struct WarpgroupLaunch {
  attention::Grid attend;
  attention::Grid merge;
  std::int32_t pairs = attention::kWarpgroupPairs;  // of a block
  WarpgroupGrid grid;
};

inline WarpgroupLaunch plan_warpgroup(const Shape& shape,
                                      const attention::WarpgroupChoice& choice) {
  const std::int32_t pairs = shape.width * shape.group();
  WarpgroupLaunch launch;
  const attention::HeadGroups heads = {shape.num_kv_heads, shape.group()};
  launch.pairs = attention::warpgroup_pairs(shape.dim, pairs, shape.streams, heads, choice);
  WarpgroupGrid& grid = launch.grid;
  grid.tile_pairs = launch.pairs;
  grid.num_stages = attention::warpgroup_stages(shape.dim, launch.pairs, choice);
  grid.num_blocks =
      choice.sms * attention::warpgroup_blocks_per_sm(shape.dim, launch.pairs, grid.num_stages);
  grid.stores_result = choice.stores_result;
  const auto streams = attention::cut_streams(shape.streams, heads, grid.tile_pairs, 0);
  const std::int64_t num_slices = attention::num_slices_of(streams);
  grid.items = attention::plan_items(
      streams,
      grid.num_blocks,
      attention::warpgroup_spill(shape.dim, choice.spill, grid.num_blocks, num_slices),
      attention::share_of_pairs(pairs));
  launch.attend = attention::warpgroup_grid(
      shape.dim, launch.pairs, grid.num_stages, shape.num_streams == 0 ? 0 : grid.num_blocks);

  const auto most_groups = static_cast<std::int32_t>(std::min<std::int64_t>(
      shape.num_groups,
      (std::int64_t{shape.window} + 2 * shape.width) / attention::kGroupKeys + 2));
  const attention::MergeGrid merge =
      attention::merge_grid(shape.num_rows(),
                            shape.num_heads,
                            shape.dim,
                            most_groups,
                            attention::run_states(grid.items, num_slices));
  launch.merge = merge.grid;
  grid.shares_merge = merge.is_shared;
  return launch;
}

}  // namespace assay::kernels::block_attention
