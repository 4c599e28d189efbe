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
  std::int32_t tiles = 1;
  WarpgroupGrid grid;
};

inline WarpgroupLaunch plan_warpgroup(const Shape& shape,
                                      const attention::WarpgroupChoice& choice) {
  const std::int64_t pairs = std::int64_t{shape.width} * shape.group();
  const std::int64_t in_window = std::min<std::int64_t>(
      shape.num_groups, (std::int64_t{shape.window} + 2 * shape.width) / attention::kGroupKeys + 2);
  WarpgroupLaunch launch;
  launch.tiles = attention::warpgroup_tiles(shape.dim, pairs, choice.tiles);
  WarpgroupGrid& grid = launch.grid;
  grid.tile_pairs = launch.tiles * attention::kWarpgroupPairs;
  const std::int64_t tiles = (pairs + grid.tile_pairs - 1) / grid.tile_pairs;
  grid.num_stages = attention::warpgroup_stages(shape.dim, launch.tiles, choice.stages);
  grid.num_blocks =
      choice.sms * attention::warpgroup_blocks_per_sm(shape.dim, launch.tiles, grid.num_stages);
  const std::int64_t num_groups = tiles * shape.num_streams * shape.num_kv_heads * in_window;
  grid.spill = attention::warpgroup_spill(shape.dim, choice, grid.num_blocks, num_groups);
  grid.stores_result = choice.stores_result;
  launch.attend = attention::warpgroup_grid(
      shape.dim, launch.tiles, grid.num_stages, shape.num_streams == 0 ? 0 : grid.num_blocks);
  launch.merge =
      attention::merge_grid(std::int64_t{shape.num_rows()} * shape.num_heads,
                            shape.dim,
                            static_cast<std::int32_t>(in_window),
                            attention::run_states(grid.spill, grid.num_blocks, num_groups));
  return launch;
}

}  // namespace assay::kernels::block_attention
