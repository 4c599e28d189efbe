// The warpgroup form of block_attention: everything that a stream's rows see as items of
// attention's warpgroup form, and a merge that knows which groups left as runs.
#pragma once

#include "kernels/attention/cuda_swapped.cuh"
#include "kernels/attention/cuda_warpgroup.cuh"
#include "kernels/block_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::block_attention {

// How the items are made: speed, never bits.
struct WarpgroupGrid {
  attention::ItemPlan items;
  std::int32_t num_blocks = 1;
  std::int32_t num_stages = 2;
  std::int32_t tile_pairs = attention::kWarpgroupPairs;
  bool stores_result = true;
  bool shares_merge = false;  // MergeTask::is_shared
};

// Context and block keys of every stream.
template <int kDim>
struct BlockKeys {
  static constexpr bool kIsMasked = true;

  const Params& params;

  ASSAY_DEVICE std::int32_t num_streams() const { return params.num_streams; }

  ASSAY_DEVICE std::int32_t num_kv_heads() const { return params.num_kv_heads; }

  ASSAY_DEVICE std::int32_t num_heads_per_key() const {
    return params.num_heads / params.num_kv_heads;
  }

  ASSAY_DEVICE std::int32_t num_rows(std::int32_t) const { return params.width; }

  ASSAY_DEVICE std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return stream * params.width + local;
  }

  ASSAY_DEVICE attention::KeyRange range(std::int32_t stream, std::int32_t local) const {
    return range_of<Mutation::kNone>(params, params.lengths[stream], local);
  }

  // The oldest key is the first row's, the newest the last one's.
  ASSAY_DEVICE attention::KeyRange keys(std::int32_t stream) const {
    return {range(stream, 0).begin, range(stream, params.width - 1).end};
  }

  ASSAY_DEVICE std::int32_t num_whole_groups(std::int32_t stream) const {
    return (keys(stream).end + attention::kGroupKeys - 1) / attention::kGroupKeys;
  }

  ASSAY_DEVICE attention::KeyRange common(std::int32_t stream) const {
    return {range(stream, params.width - 1).begin, range(stream, 0).end};
  }

  ASSAY_DEVICE attention::KeyRange mapped(std::int32_t stream) const {
    return {0, params.lengths[stream]};
  }

  ASSAY_DEVICE std::int64_t k_at(std::int32_t stream, std::int32_t kv_head) const {
    const std::int64_t* entry = params.table + 3 * static_cast<std::int64_t>(stream);
    return entry[0] + kv_head * entry[2];
  }

  ASSAY_DEVICE std::int64_t v_at(std::int32_t stream, std::int32_t kv_head) const {
    const std::int64_t* entry = params.table + 3 * static_cast<std::int64_t>(stream);
    return entry[1] + kv_head * entry[2];
  }

  ASSAY_DEVICE const std::uint16_t* q_row(std::int32_t row, std::int32_t head) const {
    return params.q + (head * total_rows() + row) * kDim;
  }

  // Rows of one key head: context, then block.
  struct Rows {
    const std::uint16_t* context;
    const std::uint16_t* block;
    std::int32_t length;

    ASSAY_DEVICE const std::uint16_t* at(std::int32_t position) const {
      return position < length ? context + std::int64_t{position} * kDim
                               : block + (position - length) * kDim;
    }
  };

  ASSAY_DEVICE Rows k_rows(std::int32_t stream, std::int32_t kv_head) const {
    return {params.k_context + k_at(stream, kv_head),
            params.k_block + block_at(stream, kv_head),
            params.lengths[stream]};
  }

  ASSAY_DEVICE Rows v_rows(std::int32_t stream, std::int32_t kv_head) const {
    return {params.v_context + v_at(stream, kv_head),
            params.v_block + block_at(stream, kv_head),
            params.lengths[stream]};
  }

 private:
  ASSAY_DEVICE std::int64_t total_rows() const {
    return std::int64_t{params.num_streams} * params.width;
  }

  ASSAY_DEVICE std::int64_t block_at(std::int32_t stream, std::int32_t kv_head) const {
    return (kv_head * total_rows() + row(stream, 0)) * kDim;
  }
};

template <class Exp, int kDim, int kPairs>
ASSAY_DEVICE void attend_warpgroup_block(const Params& params,
                                         const attention::PanelMaps& maps,
                                         const WarpgroupGrid& grid) {
  attention::let_dependent_begin();
  const BlockKeys<kDim> keys = {params};
  const attention::StateOutput output = {
      .groups = {params.partial_m, params.partial_l, params.partial_o},
      .runs = {params.run_m, params.run_l, params.run_o},
      .slices = {params.slice_m, params.slice_l, params.slice_o},
      .num_rows = params.num_streams * params.width,
      .num_heads = params.num_heads};
  attention::ItemAttention<Exp, kDim, kPairs, BlockKeys<kDim>> attention(
      keys, maps, output, params.scale, attention::shared_memory(), grid.num_stages);
  attention.run(grid.items, {static_cast<std::int32_t>(attention::block_id()), grid.num_blocks});
}

template <int kBatch, int kDim>
ASSAY_DEVICE void merge_warpgroup_block(const Params& params, const WarpgroupGrid& grid) {
  const auto task = attention::MergeTask::of<kDim>(grid.shares_merge, params.num_heads);
  if (task.row >= params.num_streams * params.width) {
    return;
  }
  attention::MergeRow merge =
      merge_row_of<Mutation::kNone>(params, {.spills_runs = true}, task.row, task.head);
  merge.slices = {params.slice_m, params.slice_l, params.slice_o};
  merge.cut = attention::cut_of(
      BlockKeys<kDim>{params}, task.row / params.width, grid.items, grid.tile_pairs);
  merge.is_cut = true;
  if (grid.items.leaves_slices()) {
    merge.num_run_groups = 0;
    merge.first_slice_group = merge.group_begin;
  }
  attention::merge_row<kBatch, kDim, attention::Defect::kNone>(
      merge, {params.out, grid.stores_result ? params.result : nullptr}, task);
}

}  // namespace assay::kernels::block_attention
