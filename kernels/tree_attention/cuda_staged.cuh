// The bodies of the staged kernels: shared blocks for groups that are fully committed, own blocks
// for the others or, without sharing, for all. The grid is fixed by the host; what there is to do
// is read from the tables on the device.
#pragma once

#include "kernels/attention/cuda_direct.cuh"
#include "kernels/tree_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

struct StagedGrid {
  attention::StagedPlan block;
  bool shares = true;
  std::int32_t num_slots = 1;      // of a shared tile, or of a row without sharing
  std::int32_t num_own_slots = 1;  // of a row
  std::int64_t num_shared = 0;     // blocks, or fours of one-warp blocks, that are shared
};

template <class Exp, int kDim, Mutation kMutation>
ASSAY_DEVICE void attend_staged_block(const Params& params, const StagedGrid& grid) {
  using attention::GroupWalk;
  std::int64_t number = attention::block_id();
  int slice = 0;
  if (!grid.block.is_four_warp) {
    slice = static_cast<int>(number % attention::kSlices);
    number /= attention::kSlices;
  }
  constexpr attention::Defect kDefect = defect_of(kMutation);
  const int unit_groups = grid.block.spills_runs ? attention::kRunGroups : 1;
  const bool is_shared = number < grid.num_shared;
  number -= is_shared ? 0 : grid.num_shared;

  // Key heads of one key lie side by side: adjacent blocks take them.
  const int key_head = static_cast<int>(number % params.num_kv_heads);
  number /= params.num_kv_heads;
  const std::int64_t num_tiles = is_shared ? params.num_tiles : params.num_rows;
  const auto place = static_cast<int>(number % num_tiles);
  const auto slot = static_cast<int>(number / num_tiles);
  const auto tile =
      is_shared ? Tile<kDim, kMutation>::shared(params, place, attention::kTilePairs, key_head)
                : Tile<kDim, kMutation>::own(params, place, key_head);
  const bool is_tail = !is_shared && grid.shares;
  const GroupWalk walk = GroupWalk::of(is_tail ? tile.num_run_groups : 0,
                                       tile.num_groups,
                                       is_tail ? 1 : unit_groups,
                                       slot,
                                       is_shared ? grid.num_slots : grid.num_own_slots);
  attention::attend_staged<Exp, kDefect, kDim>(tile, grid.block, walk, params.scale, slice);
}

template <int kBatch, int kDim, Mutation kMutation>
ASSAY_DEVICE void merge_block(const Params& params, const MergePlan& plan) {
  const auto task = attention::MergeTask::of<kDim>(plan.is_shared, params.num_heads);
  if (task.row >= params.num_rows) {
    return;
  }
  const attention::MergeRow row = merge_row_of<kMutation>(params, plan, task.row, task.head);
  attention::merge_row<kBatch, kDim, defect_of(kMutation)>(
      row, {params.out, plan.stores_result ? params.result : nullptr}, task);
}

// One warp for (row, key head, group).
template <int kDim>
ASSAY_DEVICE void attend_direct_block(const Params& params) {
  const std::int64_t number = attention::block_id();
  const auto key_head = static_cast<int>(number % params.num_kv_heads);
  const std::int64_t rest = number / params.num_kv_heads;
  const auto row = static_cast<int>(rest % params.num_rows);
  const auto group = static_cast<int>(rest / params.num_rows);
  const auto tile = Tile<kDim>::own(params, row, key_head);
  if (group < tile.num_groups) {
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

}  // namespace assay::kernels::tree_attention
