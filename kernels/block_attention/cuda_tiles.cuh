// Tiles of 16 (block row, query head) pairs of one stream and key head.
#pragma once

#include "kernels/attention/cuda_merge.cuh"
#include "kernels/attention/cuda_staged.cuh"
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/mutation.h"

#include <cstdint>

namespace assay::kernels::block_attention {

ASSAY_HOST_DEVICE constexpr attention::Defect defect_of(Mutation mutation) {
  using attention::Defect;
  switch (mutation) {
    case Mutation::kScaleOffBySixteenth:
      return Defect::kScaleOffBySixteenth;
    case Mutation::kReadsNextTile:
      return Defect::kReadsNextTile;
    case Mutation::kKeepsMaskedValues:
      return Defect::kKeepsMaskedValues;
    case Mutation::kDropsFourthSlice:
      return Defect::kDropsFourthSlice;
    case Mutation::kMergesInReverse:
      return Defect::kMergesInReverse;
    default:
      return Defect::kNone;
  }
}

// What row `row` of a stream's block sees, as visible_range() says.
template <Mutation kMutation>
ASSAY_DEVICE attention::KeyRange range_of(const Params& params, int context, int row) {
  std::int64_t window = params.window;
  if constexpr (kMutation == Mutation::kWindowOffByOne) {
    window += 1;
  }
  const std::int64_t oldest = context + row - window;
  const std::int64_t begin = oldest < 0 ? 0 : oldest > context ? context : oldest;
  int own = params.is_causal ? row + 1 : params.width;
  if constexpr (kMutation == Mutation::kCausalOffByOne) {
    own = own < params.width ? own + 1 : own;
  }
  return {static_cast<std::int32_t>(begin), context + own};
}

template <int kDim, Mutation kMutation = Mutation::kNone>
class Tile {
 public:
  std::int32_t num_pairs = 0;
  attention::KeyRange loaded;
  std::int32_t num_groups = 0;      // up to the last that holds a key of the tile
  std::int32_t num_run_groups = 0;  // all of them

  // Pairs `first_pair` and up to `most_pairs` - 1 more; pair = row * G + head in group.
  ASSAY_DEVICE Tile(const Params& params, int stream, int first_pair, int most_pairs, int key_head)
      : params_(params),
        stream_(stream),
        first_pair_(first_pair),
        key_head_(key_head),
        group_(params.num_heads / params.num_kv_heads) {
    int table = stream;
    if constexpr (kMutation == Mutation::kReadsNeighbourContext) {
      table = (table + 1) % params.num_streams;
    }
    const std::int64_t* entry = params.table + 3 * static_cast<std::int64_t>(table);
    k_context_ = params.k_context + entry[0] + key_head * entry[2];
    v_context_ = params.v_context + entry[1] + key_head * entry[2];
    context_ = params.lengths[stream];
    const int rest = params.width * group_ - first_pair;
    num_pairs = rest < most_pairs ? rest : most_pairs;
    loaded = {range(0).begin, range(num_pairs - 1).end};
    num_groups = (loaded.end + attention::kGroupKeys - 1) / attention::kGroupKeys;
    num_run_groups = num_groups;
  }

  ASSAY_DEVICE const std::uint16_t* query(int pair) const {
    const std::int64_t head = head_of(pair);
    return params_.q + (head * num_rows() + row_of(pair)) * kDim;
  }

  ASSAY_DEVICE attention::KeyRange range(int pair) const {
    return range_of<kMutation>(params_, context_, (first_pair_ + pair) / group_);
  }

  ASSAY_DEVICE std::int64_t state_place(int pair) const {
    return row_of(pair) * params_.num_heads + head_of(pair);
  }

  // The context's.
  ASSAY_DEVICE attention::EvenRows even_rows(bool is_value) const {
    return {is_value ? v_context_ : k_context_, kDim, 0, context_};
  }

  ASSAY_DEVICE const std::uint16_t* row(int position, bool is_value) const {
    if (position < context_) {
      return (is_value ? v_context_ : k_context_) + static_cast<std::int64_t>(position) * kDim;
    }
    const std::int64_t place = key_head_ * num_rows() +
                               static_cast<std::int64_t>(stream_) * params_.width + position -
                               context_;
    return (is_value ? params_.v_block : params_.k_block) + place * kDim;
  }

  // What the window hides.
  ASSAY_DEVICE const std::uint16_t* unseen_value(int position) const {
    return row(position < loaded.end ? position : loaded.begin, true);
  }

  ASSAY_DEVICE std::int64_t num_states() const { return num_rows() * params_.num_heads; }

  ASSAY_DEVICE attention::StateArrays partials() const {
    return {params_.partial_m, params_.partial_l, params_.partial_o};
  }

  ASSAY_DEVICE attention::StateArrays runs() const {
    return {params_.run_m, params_.run_l, params_.run_o};
  }

  // There is no one-warp form.
  ASSAY_DEVICE attention::StateArrays slices() const { return {}; }

 private:
  ASSAY_DEVICE std::int64_t num_rows() const {
    return static_cast<std::int64_t>(params_.num_streams) * params_.width;
  }

  ASSAY_DEVICE std::int64_t row_of(int pair) const {
    return static_cast<std::int64_t>(stream_) * params_.width + (first_pair_ + pair) / group_;
  }

  ASSAY_DEVICE int head_of(int pair) const {
    const int head = (first_pair_ + pair) % group_;
    if constexpr (kMutation == Mutation::kWrongHeadMap) {
      return head * params_.num_kv_heads + key_head_;
    }
    return key_head_ * group_ + head;
  }

  const Params& params_;
  std::int32_t stream_;
  std::int32_t first_pair_;
  std::int32_t key_head_;
  std::int32_t group_;  // query heads of a key head
  std::int32_t context_ = 0;
  const std::uint16_t* k_context_ = nullptr;
  const std::uint16_t* v_context_ = nullptr;
};

struct MergePlan {
  bool spills_runs = false;
  bool stores_result = true;
  bool is_shared = false;  // MergeTask::is_shared
};

template <Mutation kMutation>
ASSAY_DEVICE attention::MergeRow merge_row_of(const Params& params,
                                              const MergePlan& plan,
                                              int row,
                                              int head) {
  const attention::KeyRange range =
      range_of<kMutation>(params, params.lengths[row / params.width], row % params.width);
  const int end_group = (range.end + attention::kGroupKeys - 1) / attention::kGroupKeys;
  return {
      .partials = {params.partial_m, params.partial_l, params.partial_o},
      .runs = {params.run_m, params.run_l, params.run_o},
      .slices = {},
      .num_states = static_cast<std::int64_t>(params.num_streams) * params.width * params.num_heads,
      .place = static_cast<std::int64_t>(row) * params.num_heads + head,
      .group_begin = range.begin / attention::kGroupKeys,
      .group_end = end_group,
      .num_run_groups = plan.spills_runs ? end_group : 0,
      .first_slice_group = end_group,
      .begin_slice = range.begin / attention::kSliceKeys,
      .end_slice = (range.end + attention::kSliceKeys - 1) / attention::kSliceKeys,
      .first_stored_group = 0,
  };
}

}  // namespace assay::kernels::block_attention
