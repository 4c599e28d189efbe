// Tiles of 16 (row, query head) pairs of one key head: shared ones, of a stream's rows over its
// committed groups, and own ones, of one row over all that it sees.
#pragma once

#include "kernels/attention/cuda_merge.cuh"
#include "kernels/attention/cuda_staged.cuh"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/mutation.h"

#include <cstdint>

namespace assay::kernels::tree_attention {

ASSAY_HOST_DEVICE constexpr attention::Defect defect_of(Mutation mutation) {
  using attention::Defect;
  switch (mutation) {
    case Mutation::kScaleOffBySixteenth:
      return Defect::kScaleOffBySixteenth;
    case Mutation::kDropsFourthSlice:
      return Defect::kDropsFourthSlice;
    case Mutation::kDropsFourthSliceInChunk:
      return Defect::kDropsFourthSliceInChunk;
    case Mutation::kReadsNextTile:
      return Defect::kReadsNextTile;
    case Mutation::kMergesInReverse:
      return Defect::kMergesInReverse;
    case Mutation::kSlicesInReverse:
      return Defect::kSlicesInReverse;
    case Mutation::kContractsOneFold:
      return Defect::kContractsOneFold;
    case Mutation::kKeepsMaskedValues:
      return Defect::kKeepsMaskedValues;
    case Mutation::kOverwritesTileBeingRead:
      return Defect::kOverwritesTileBeingRead;
    case Mutation::kLeavesTailUnwritten:
      return Defect::kLeavesTailUnwritten;
    default:
      return Defect::kNone;
  }
}

// A stream's cache and one row's view of it.
struct Stream {
  std::int32_t first_row;
  std::int32_t num_rows;
  std::int32_t committed;

  static ASSAY_DEVICE Stream of(const Params& params, int stream) {
    const std::int32_t* entry = params.stream_table + 3 * static_cast<std::int64_t>(stream);
    return {entry[0], entry[1], entry[2]};
  }
};

inline constexpr int kCutDepth = 3;

// Keys that row `row` has of its own.
template <Mutation kMutation>
ASSAY_DEVICE int depth_of(const Params& params, int row) {
  const std::int32_t depth = params.depths[row];
  if constexpr (kMutation == Mutation::kCutsPaths) {
    return depth < kCutDepth ? depth : kCutDepth;
  }
  return depth;
}

// Places that a defect leaves empty before position 0.
template <Mutation kMutation>
ASSAY_DEVICE int shift_of(int committed) {
  if constexpr (kMutation == Mutation::kGroupsAnchoredAtCommitted) {
    return (attention::kGroupKeys - committed % attention::kGroupKeys) % attention::kGroupKeys;
  }
  return 0;
}

ASSAY_DEVICE int end_group_of(const Params& params, int end) {
  const int groups = (end + attention::kGroupKeys - 1) / attention::kGroupKeys;
  return groups < params.num_groups ? groups : params.num_groups;
}

template <int kDim, Mutation kMutation = Mutation::kNone>
class Tile {
 public:
  std::int32_t num_pairs = 0;
  attention::KeyRange loaded;
  std::int32_t num_groups = 0;      // that hold a key of the tile
  std::int32_t num_run_groups = 0;  // fully committed

  // From entry `number` of the table of tiles.
  static ASSAY_DEVICE Tile shared(const Params& params, int number, int most_pairs, int key_head) {
    const std::int32_t* entry = params.tiles + 2 * static_cast<std::int64_t>(number);
    Tile tile(params, entry[0], key_head);
    tile.first_pair_ = entry[1];
    const int rest = tile.stream_.num_rows * tile.group_ - tile.first_pair_;
    tile.num_pairs = rest < most_pairs ? rest : most_pairs;
    tile.loaded = {tile.shift_, tile.shift_ + tile.stream_.committed};
    tile.num_groups = tile.num_run_groups;
    return tile;
  }

  static ASSAY_DEVICE Tile own(const Params& params, int row, int key_head) {
    Tile tile(params, params.row_stream[row], key_head);
    tile.first_pair_ = (row - tile.stream_.first_row) * tile.group_;
    tile.num_pairs = tile.group_;
    tile.path_ = params.paths + static_cast<std::int64_t>(row) * kMostDepth;
    const int end = tile.shift_ + tile.stream_.committed + depth_of<kMutation>(params, row);
    tile.loaded = {tile.shift_, end};
    tile.num_groups = end_group_of(params, end);
    return tile;
  }

  ASSAY_DEVICE const std::uint16_t* query(int pair) const {
    return params_.q + state_place(pair) * kDim;
  }

  ASSAY_DEVICE attention::KeyRange range(int) const { return loaded; }

  ASSAY_DEVICE std::int64_t state_place(int pair) const {
    const int number = first_pair_ + pair;
    const std::int64_t row = stream_.first_row + number / group_;
    int head = key_head_ * group_ + number % group_;
    if constexpr (kMutation == Mutation::kWrongHeadMap) {
      head = number % group_ * params_.num_kv_heads + key_head_;
    }
    return row * params_.num_heads + head;
  }

  // The committed ones.
  ASSAY_DEVICE attention::EvenRows even_rows(bool is_value) const {
    return {is_value ? v_cache_ : k_cache_, stride_, shift_, shift_ + num_cached()};
  }

  ASSAY_DEVICE const std::uint16_t* row(int position, bool is_value) const {
    const int key = position - shift_;
    if (key < num_cached()) {
      return (is_value ? v_cache_ : k_cache_) + key * stride_;
    }
    const std::int64_t drafted = path_[key - stream_.committed];
    return (is_value ? params_.v_rows : params_.k_rows) + drafted * stride_ +
           static_cast<std::int64_t>(key_head_) * kDim;
  }

  // What lies in the cache behind the committed keys.
  ASSAY_DEVICE const std::uint16_t* unseen_value(int) const {
    return v_cache_ + stream_.committed * stride_;
  }

  ASSAY_DEVICE std::int64_t num_states() const {
    return static_cast<std::int64_t>(params_.num_rows) * params_.num_heads;
  }

  ASSAY_DEVICE attention::StateArrays partials() const {
    return {params_.partial_m, params_.partial_l, params_.partial_o};
  }

  ASSAY_DEVICE attention::StateArrays runs() const {
    return {params_.run_m, params_.run_l, params_.run_o};
  }

  ASSAY_DEVICE attention::StateArrays slices() const {
    return {params_.slice_m, params_.slice_l, params_.slice_o};
  }

 private:
  ASSAY_DEVICE std::int32_t num_cached() const {
    if constexpr (kMutation == Mutation::kReadsPastCommitted) {
      return stream_.committed + 1;
    }
    return stream_.committed;
  }

  ASSAY_DEVICE Tile(const Params& params, int stream, int key_head)
      : params_(params),
        stream_(Stream::of(params, stream)),
        key_head_(key_head),
        group_(params.num_heads / params.num_kv_heads),
        shift_(shift_of<kMutation>(stream_.committed)),
        stride_(static_cast<std::int64_t>(params.num_kv_heads) * kDim) {
    std::int64_t table = stream;
    if constexpr (kMutation == Mutation::kReadsNeighbourCache) {
      table = (table + 1) % params.num_streams;
    }
    const std::int64_t head = static_cast<std::int64_t>(key_head) * kDim;
    k_cache_ = params.k_cache + params.cache_table[2 * table] + head;
    v_cache_ = params.v_cache + params.cache_table[2 * table + 1] + head;
    num_run_groups = (stream_.committed + shift_) / attention::kGroupKeys;
  }

  const Params& params_;
  Stream stream_;
  std::int32_t key_head_;
  std::int32_t group_;  // query heads of a key head
  std::int32_t shift_;
  std::int64_t stride_;  // of a key
  std::int32_t first_pair_ = 0;
  const std::uint16_t* k_cache_ = nullptr;
  const std::uint16_t* v_cache_ = nullptr;
  const std::int32_t* path_ = nullptr;
};

// What the merge of (row, head) folds.
struct MergePlan {
  bool has_slices = false;
  bool spills_runs = false;
  bool stores_result = true;
  bool is_shared = false;  // MergeTask::is_shared
};

template <Mutation kMutation>
ASSAY_DEVICE attention::MergeRow merge_row_of(const Params& params,
                                              const MergePlan& plan,
                                              int row,
                                              int head) {
  const Stream stream = Stream::of(params, params.row_stream[row]);
  const int shift = shift_of<kMutation>(stream.committed);
  const int end = shift + stream.committed + depth_of<kMutation>(params, row);
  const bool has_runs = plan.spills_runs && !plan.has_slices;
  const int whole_groups = (stream.committed + shift) / attention::kGroupKeys;
  return {
      .partials = {params.partial_m, params.partial_l, params.partial_o},
      .runs = {params.run_m, params.run_l, params.run_o},
      .slices = {params.slice_m, params.slice_l, params.slice_o},
      .num_states = static_cast<std::int64_t>(params.num_rows) * params.num_heads,
      .place = static_cast<std::int64_t>(row) * params.num_heads + head,
      .group_begin = 0,
      .group_end = end_group_of(params, end),
      .num_run_groups = has_runs ? whole_groups : 0,
      .first_slice_group = plan.has_slices ? 0 : end_group_of(params, end),
      .begin_slice = 0,
      .end_slice = (end + attention::kSliceKeys - 1) / attention::kSliceKeys,
      .first_stored_group = plan.spills_runs ? whole_groups : 0,
  };
}

}  // namespace assay::kernels::tree_attention
