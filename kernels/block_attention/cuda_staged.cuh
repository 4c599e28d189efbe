// The bodies of block_attention's kernels: a block takes 16 pairs of a stream and key head and
// walks the groups that they see. The grid is fixed by the host; lengths are read on the device.
#pragma once

#include "kernels/attention/cuda_direct.cuh"
#include "kernels/block_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::block_attention {

struct StagedGrid {
  attention::StagedPlan block;
  std::int32_t num_tiles = 1;  // of a stream's pairs
  std::int32_t num_slots = 1;
};

template <class Exp, int kDim, Mutation kMutation>
ASSAY_DEVICE void attend_staged_block(const Params& params, const StagedGrid& grid) {
  std::int64_t number = attention::block_id();
  const auto place = static_cast<int>(number % grid.num_tiles);
  number /= grid.num_tiles;
  const auto key_head = static_cast<int>(number % params.num_kv_heads);
  number /= params.num_kv_heads;
  const auto slot = static_cast<int>(number % grid.num_slots);
  const auto stream = static_cast<int>(number / grid.num_slots);
  const Tile<kDim, kMutation> tile(
      params, stream, place * attention::kTilePairs, attention::kTilePairs, key_head);
  const auto walk =
      attention::GroupWalk::of(grid.block.skips ? tile.loaded.begin / attention::kGroupKeys : 0,
                               tile.num_groups,
                               grid.block.spills_runs ? attention::kRunGroups : 1,
                               slot,
                               grid.num_slots);
  attention::attend_staged<Exp, defect_of(kMutation), kDim>(
      tile, grid.block, walk, params.scale, 0);
}

template <int kBatch, int kDim, Mutation kMutation>
ASSAY_DEVICE void merge_block(const Params& params, const MergePlan& plan) {
  const auto task = attention::MergeTask::of<kDim>(plan.is_shared, params.num_heads);
  if (task.row >= params.num_streams * params.width) {
    return;
  }
  const attention::MergeRow row = merge_row_of<kMutation>(params, plan, task.row, task.head);
  attention::merge_row<kBatch, kDim, defect_of(kMutation)>(
      row, {params.out, plan.stores_result ? params.result : nullptr}, task);
}

// One warp for (row, key head, group).
template <int kDim>
ASSAY_DEVICE void attend_direct_block(const Params& params) {
  std::int64_t number = attention::block_id();
  const auto key_head = static_cast<int>(number % params.num_kv_heads);
  number /= params.num_kv_heads;
  const int num_rows = params.num_streams * params.width;
  const auto row = static_cast<int>(number % num_rows);
  const auto group = static_cast<int>(number / num_rows);
  const int heads = params.num_heads / params.num_kv_heads;
  const Tile<kDim> tile(params, row / params.width, row % params.width * heads, heads, key_head);
  if (group >= tile.loaded.begin / attention::kGroupKeys && group < tile.num_groups) {
    attention::attend_directly<kDim>(tile, group, params.scale);
  }
}

// One thread for each dim of (row, head).
template <int kDim>
ASSAY_DEVICE void merge_direct_block(const Params& params) {
  const std::int64_t number = attention::block_id();
  const attention::MergeRow row =
      merge_row_of<Mutation::kNone>(params,
                                    {},
                                    static_cast<int>(number / params.num_heads),
                                    static_cast<int>(number % params.num_heads));
  attention::merge_directly<kDim>(row, {params.out, params.result}, attention::thread_id());
}

}  // namespace assay::kernels::block_attention
