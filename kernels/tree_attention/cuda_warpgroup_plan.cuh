// From a call's shape and the launch parameters of `warpgroup` to grids: host arithmetic only.
#pragma once

#include "kernels/attention/cuda_warpgroup_plan.cuh"
#include "kernels/tree_attention/cuda_plan.cuh"
#include "kernels/tree_attention/cuda_warpgroup.cuh"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::tree_attention {

struct WarpgroupLaunch {
  attention::Grid attend;
  std::int32_t tiles = 1;
  WarpgroupGrid grid;
  StagedLaunch tails;  // own blocks for what is not fully committed
  WarpgroupMergePlan merge_plan;
};

inline WarpgroupLaunch plan_warpgroup(const Shape& shape,
                                      const attention::WarpgroupChoice& choice) {
  using attention::ItemSpill;
  const std::int64_t pairs = std::int64_t{shape.num_rows} * shape.group();
  const std::int64_t stream_pairs = pairs / std::max(shape.num_streams, 1);
  const std::int32_t committed = choice.capacity == 0 ? shape.most_committed / attention::kGroupKeys
                                                      : capacity_groups(shape, choice.capacity);

  WarpgroupLaunch launch;
  launch.tiles = attention::warpgroup_tiles(shape.dim, stream_pairs, choice.tiles);
  WarpgroupGrid& grid = launch.grid;
  grid.tile_pairs = launch.tiles * attention::kWarpgroupPairs;
  const std::int64_t tiles = std::max<std::int64_t>(stream_pairs / grid.tile_pairs, 1);
  grid.spill = attention::warpgroup_spill(
      choice, tiles * shape.num_streams * shape.num_kv_heads * committed);
  grid.num_blocks = choice.sms;
  grid.num_stages = attention::warpgroup_stages(shape.dim, launch.tiles, choice.stages);
  launch.attend = attention::warpgroup_grid(
      shape.dim, launch.tiles, grid.num_stages, pairs == 0 || committed == 0 ? 0 : grid.num_blocks);

  const bool has_slices = grid.spill == ItemSpill::kSlice;
  launch.tails = plan_staged(shape,
                             {.form = has_slices ? Form::kOneWarp : Form::kFourWarp,
                              .stages = 2,
                              .capacity = choice.capacity,
                              .stores_result = choice.stores_result});
  launch.tails.attend.num_blocks -=
      launch.tails.grid.num_shared * (has_slices ? attention::kSlices : 1);
  launch.tails.grid.num_shared = 0;
  launch.merge_plan = {
      .merge = {.has_slices = has_slices,
                .spills_runs = grid.spill == ItemSpill::kRun || grid.spill == ItemSpill::kAuto,
                .stores_result = choice.stores_result},
      .grid = grid};
  return launch;
}

}  // namespace assay::kernels::tree_attention
