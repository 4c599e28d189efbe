// The warpgroup form of tree_attention: fully committed groups as items of attention's warpgroup
// form, and a merge that knows which of them left as runs.
#pragma once

#include "kernels/attention/cuda_warpgroup.cuh"
#include "kernels/tree_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

// How the items are made: speed, never bits.
struct WarpgroupGrid {
  attention::ItemSpill spill = attention::ItemSpill::kAuto;
  std::int32_t num_blocks = 1;
  std::int32_t num_stages = 2;
  std::int32_t tile_pairs = attention::kWarpgroupPairs;
};

// The committed keys that all rows of a stream see.
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

  ASSAY_DEVICE attention::GroupRange groups(std::int32_t stream) const {
    return {0, Stream::of(params, stream).committed / attention::kGroupKeys};
  }

  ASSAY_DEVICE attention::KeyRange keys(std::int32_t stream) const {
    return {0, Stream::of(params, stream).committed};
  }

  ASSAY_DEVICE const std::uint16_t* q_row(std::int32_t stream,
                                          std::int32_t pair,
                                          std::int32_t kv_head) const {
    const std::int32_t group = num_heads_per_key();
    const std::int64_t place =
        std::int64_t{row(stream, pair / group)} * params.num_heads + kv_head * group + pair % group;
    return params.q + place * kDim;
  }

  ASSAY_DEVICE const std::uint16_t* k_row(std::int32_t stream,
                                          std::int32_t kv_head,
                                          std::int32_t position) const {
    return params.k_cache + params.cache_table[2 * stream] + key_offset(kv_head, position);
  }

  ASSAY_DEVICE const std::uint16_t* v_row(std::int32_t stream,
                                          std::int32_t kv_head,
                                          std::int32_t position) const {
    return params.v_cache + params.cache_table[2 * stream + 1] + key_offset(kv_head, position);
  }

 private:
  ASSAY_DEVICE std::int64_t key_offset(std::int32_t kv_head, std::int32_t position) const {
    return (std::int64_t{position} * params.num_kv_heads + kv_head) * kDim;
  }
};

template <class Exp, int kDim, int kTiles>
ASSAY_DEVICE void attend_warpgroup_block(const Params& params, const WarpgroupGrid& grid) {
  const CommittedKeys<kDim> keys = {params};
  const attention::StateOutput output = {
      .groups = {params.partial_m, params.partial_l, params.partial_o},
      .runs = {params.run_m, params.run_l, params.run_o},
      .slices = {params.slice_m, params.slice_l, params.slice_o},
      .num_rows = params.num_rows,
      .num_heads = params.num_heads};
  attention::WarpgroupAttention<Exp, kDim, kTiles, CommittedKeys<kDim>> attention(
      keys, output, params.scale, grid.num_blocks, attention::shared_memory(), grid.num_stages);
  attention.run(grid.spill);
}

struct WarpgroupMergePlan {
  MergePlan merge;
  WarpgroupGrid grid;
};

template <int kBatch, int kDim>
ASSAY_DEVICE void merge_warpgroup_block(const Params& params, const WarpgroupMergePlan& plan) {
  constexpr int kParts = kDim / attention::kMergeDims;
  const std::int64_t number = attention::block_id() / kParts;
  const auto row = static_cast<int>(number / params.num_heads);
  const auto head = static_cast<int>(number % params.num_heads);
  attention::MergeRow merge = merge_row_of<Mutation::kNone>(params, plan.merge, row, head);
  if (plan.grid.spill == attention::ItemSpill::kAuto) {
    const CommittedKeys<kDim> keys = {params};
    const std::int32_t stream = params.row_stream[row];
    const std::int32_t group = keys.num_heads_per_key();
    const std::int32_t pair = (row - keys.row(stream, 0)) * group + head % group;
    merge.num_run_groups = attention::num_whole_groups(
        keys, stream, pair, head / group, plan.grid.tile_pairs, plan.grid.num_blocks);
  }
  attention::merge_row<kBatch, kDim, attention::Defect::kNone>(
      merge,
      {params.out, plan.merge.stores_result ? params.result : nullptr},
      static_cast<int>(attention::block_id() % kParts));
}

}  // namespace assay::kernels::tree_attention
