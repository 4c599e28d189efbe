// The warpgroup form of tree_attention: committed slices as items of attention's warpgroup form,
// what is left of each row in blocks of their own, and a merge that knows what left as runs and as
// slices.
#pragma once

#include "kernels/attention/cuda_shared_slice.cuh"
#include "kernels/attention/cuda_swapped.cuh"
#include "kernels/attention/cuda_warpgroup.cuh"
#include "kernels/tree_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

// Blocks that attend the keys that rows do not share: speed, never bits.
struct TailPlan {
  std::int32_t num_blocks = 1;
  std::int32_t first_block = 0;  // before the items' blocks or behind them
  bool is_shared = false;      // by a block's warps, one tail at a time; else each warp has its own
  std::int32_t num_warps = 1;  // of a block
  std::int32_t warp_bytes = 0;
  attention::StagedPlan block;
};

// How the items are made: speed, never bits.
struct WarpgroupGrid {
  attention::ItemPlan items;
  std::int32_t num_blocks = 1;
  std::int32_t num_stages = 2;
  std::int32_t tile_pairs = attention::kWarpgroupPairs;
  TailPlan tails;
};

// The committed slices that all rows of a stream see.
template <int kDim>
struct CommittedKeys {
  static constexpr bool kIsMasked = false;

  const Params& params;

  ASSAY_DEVICE std::int32_t num_streams() const { return params.num_streams; }

  ASSAY_DEVICE std::int32_t num_kv_heads() const { return params.num_kv_heads; }

  ASSAY_DEVICE std::int32_t num_heads_per_key() const {
    return params.num_heads / params.num_kv_heads;
  }

  ASSAY_DEVICE std::int32_t num_rows(std::int32_t stream) const {
    return Stream::of(params, stream).num_rows;
  }

  ASSAY_DEVICE std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return Stream::of(params, stream).first_row + local;
  }

  ASSAY_DEVICE attention::KeyRange keys(std::int32_t stream) const {
    return {0,
            Stream::of(params, stream).committed / attention::kSliceKeys * attention::kSliceKeys};
  }

  ASSAY_DEVICE std::int32_t num_whole_groups(std::int32_t stream) const {
    return keys(stream).end / attention::kGroupKeys;
  }

  ASSAY_DEVICE const std::uint16_t* q_row(std::int32_t row, std::int32_t head) const {
    return params.q + (std::int64_t{row} * params.num_heads + head) * kDim;
  }

  ASSAY_DEVICE std::int64_t k_at(std::int32_t stream, std::int32_t kv_head) const {
    return params.cache_table[2 * stream] + kv_head * kDim;
  }

  ASSAY_DEVICE std::int64_t v_at(std::int32_t stream, std::int32_t kv_head) const {
    return params.cache_table[2 * stream + 1] + kv_head * kDim;
  }
};

// The slices of one row and key head that are not wholly committed.
template <int kDim>
ASSAY_DEVICE Tile<kDim> tail_of(const Params& params, int row, int key_head) {
  Tile<kDim> tile = Tile<kDim>::own(params, row, key_head);
  const std::int32_t committed = Stream::of(params, params.row_stream[row]).committed;
  tile.loaded.begin = committed / attention::kSliceKeys * attention::kSliceKeys;
  return tile;
}

// A warp's work on a tail.
template <class Exp, int kDim>
ASSAY_DEVICE void attend_tail(const Params& params,
                              int row,
                              int key_head,
                              const attention::StagedPlan& plan,
                              std::byte* memory) {
  const Tile<kDim> tile = tail_of<kDim>(params, row, key_head);
  attention::GroupWalk walk =
      attention::GroupWalk::of(tile.loaded.begin / attention::kGroupKeys, tile.num_groups, 1, 0, 1);
  // A tile that few keys fill takes as long to copy as a full one.
  std::int32_t tile_keys = plan.tile;
  while (tile_keys > attention::kStepKeys && tile.loaded.end - tile.loaded.begin <= tile_keys / 2) {
    tile_keys /= 2;
  }
  const attention::KeySpan keys = {tile.loaded, tile_keys, true};
  auto* scores = reinterpret_cast<float*>(memory + attention::StagedMemory<kDim>::kQueryBytes);
  attention::TileRing<kDim, Tile<kDim>, false> ring(
      tile,
      {.walk = walk, .keys = keys},
      reinterpret_cast<std::byte*>(scores + attention::kRolledFloats),
      plan.num_stages);
  attention::copy_queries<kDim>(
      tile, 0, attention::kTilePairs, memory, attention::lane_id(), attention::kLanes);
  attention::commit_copies();
  ring.fill();
  const attention::LaneRows rows = attention::LaneRows::of(tile, 0);
  attention::wait_for_all_but(plan.num_stages - 1);
  attention::sync_warp();
  for (; !walk.is_done(); walk.advance()) {
    ASSAY_NO_UNROLL
    for (int slice = 0; slice < attention::kSlices; ++slice) {
      const int place = walk.group * attention::kSlices + slice;
      const attention::SliceSpan span = keys.of_slice(place);
      if (span.is_empty()) {
        continue;
      }
      attention::SliceState<kDim / attention::kColumnKeys> state;
      attention::attend_slice_rolled<Exp, kDim>(ring,
                                                memory,
                                                params.scale,
                                                rows.ranges,
                                                place * attention::kSliceKeys,
                                                span,
                                                scores,
                                                state);
      attention::store_state(state, tile.slices(), place * tile.num_states(), rows.places, 0, kDim);
    }
  }
  // The memory is the next tail's.
  attention::wait_for_all_but(0);
  attention::sync_warp();
}

// A block's work on a tail.
template <class Exp, int kDim, int kWarps>
ASSAY_DEVICE void attend_tail_together(const Params& params,
                                       int row,
                                       int key_head,
                                       std::byte* memory) {
  const Tile<kDim> tile = tail_of<kDim>(params, row, key_head);
  const attention::KeySpan keys = {tile.loaded, attention::kStepKeys, true};
  using Slice = attention::SharedSlice<Exp, kDim, kWarps, Tile<kDim>>;
  Slice slice(tile,
              params.scale,
              attention::kHalvesBarrier,
              *reinterpret_cast<attention::SharedSliceMemory<kDim>*>(memory));
  ASSAY_NO_UNROLL
  for (std::int32_t number = tile.loaded.begin / attention::kSliceKeys;
       number * attention::kSliceKeys < tile.loaded.end;
       ++number) {
    typename Slice::State state;
    slice.attend(number, keys.of_slice(number), state);
    attention::store_state(state,
                           tile.slices(),
                           number * tile.num_states(),
                           slice.rows().places,
                           Slice::first_dim(),
                           kDim);
  }
}

// `block` of the blocks for tails, of kWarps warps.
template <class Exp, int kDim, int kWarps>
ASSAY_DEVICE void attend_tails(const Params& params, const TailPlan& plan, std::int32_t block) {
  const std::int32_t warp = attention::warp_id();
  if (plan.is_shared) {
    attend_tail_together<Exp, kDim, kWarps>(params,
                                            block / params.num_kv_heads,
                                            block % params.num_kv_heads,
                                            attention::shared_memory());
    return;
  }
  if (warp >= plan.num_warps) {
    return;
  }
  const std::int32_t num_tails = params.num_rows * params.num_kv_heads;
  for (std::int32_t tail = block + warp * plan.num_blocks; tail < num_tails;
       tail += plan.num_blocks * plan.num_warps) {
    attend_tail<Exp, kDim>(params,
                           tail / params.num_kv_heads,
                           tail % params.num_kv_heads,
                           plan.block,
                           attention::shared_memory() + warp * plan.warp_bytes);
  }
}

template <class Exp, int kDim, int kPairs>
ASSAY_DEVICE void attend_warpgroup_block(const Params& params,
                                         const attention::PanelMaps& maps,
                                         const WarpgroupGrid& grid) {
  attention::let_dependent_begin();
  const CommittedKeys<kDim> keys = {params};
  const attention::StateOutput output = {
      .groups = {params.partial_m, params.partial_l, params.partial_o},
      .runs = {params.run_m, params.run_l, params.run_o},
      .slices = {params.slice_m, params.slice_l, params.slice_o},
      .num_rows = params.num_rows,
      .num_heads = params.num_heads};
  using Attention = attention::ItemAttention<Exp, kDim, kPairs, CommittedKeys<kDim>>;
  const auto block = static_cast<std::int32_t>(attention::block_id());
  const std::int32_t tail_block = block - grid.tails.first_block;
  if (tail_block >= 0 && tail_block < grid.tails.num_blocks) {
    attention::run_instead_of_items<typename Attention::Shape>([&] {
      attend_tails<Exp, kDim, Attention::Shape::kConsumers / attention::kLanes>(
          params, grid.tails, tail_block);
    });
    return;
  }
  Attention(keys, maps, output, params.scale, attention::shared_memory(), grid.num_stages)
      .run(grid.items, {tail_block < 0 ? block : block - grid.tails.num_blocks, grid.num_blocks});
}

struct WarpgroupMergePlan {
  MergePlan merge;
  WarpgroupGrid grid;
};

template <int kBatch, int kDim>
ASSAY_DEVICE void merge_warpgroup_block(const Params& params, const WarpgroupMergePlan& plan) {
  const auto task = attention::MergeTask::of<kDim>(plan.merge.is_shared, params.num_heads);
  if (task.row >= params.num_rows) {
    return;
  }
  attention::MergeRow merge =
      merge_row_of<Mutation::kNone>(params, plan.merge, task.row, task.head);
  const CommittedKeys<kDim> keys = {params};
  const std::int32_t stream = params.row_stream[task.row];
  if (!plan.merge.has_slices) {
    merge.first_slice_group = keys.num_whole_groups(stream);
  }
  merge.cut = attention::cut_of(keys, stream, plan.grid.items, plan.grid.tile_pairs);
  merge.is_cut = true;
  attention::merge_row<kBatch, kDim, attention::Defect::kNone>(
      merge, {params.out, plan.merge.stores_result ? params.result : nullptr}, task);
}

}  // namespace assay::kernels::tree_attention
