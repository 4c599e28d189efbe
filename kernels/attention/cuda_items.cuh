// Items and loads of the warpgroup form of attention (cuda_warpgroup.cuh): all (row, query head)
// pairs of a stream and key head, in tiles of 64, share staged panels of K and V (cuda_wgmma.cuh).
// A block walks items, each the groups of a run or one group, and keeps loads of the next stages in
// flight over their borders. At D 128 a warpgroup holds a tile of 64 pairs; at D 256 two warpgroups
// hold half of the columns each and compute the same scores.
//
// A Source says what is attended; all of it may be read on the device:
//   num_streams(), num_rows(stream), groups(stream): group numbers [begin, end)
//   keys(stream): positions that any row sees; others are read as zeros
//   q_row(stream, pair, kv_head), k_row(stream, kv_head, position), v_row(...): D elements
//   range(stream, local row): what a row sees, when kIsMasked; else it sees all of keys(stream)
//   row(stream, local row): its place in the output
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_ring.cuh"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupPairs = 64;
inline constexpr int kWarpgroupColumns = 128;
inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelAlignment = 1'024;
inline constexpr int kMostItemStreams = 1'024;

// What leaves an item: a run's, a group's or a slice's state. kAuto: runs as far as they fill the
// grid, else groups.
enum class ItemSpill : std::int32_t { kAuto, kRun, kGroup, kSlice };

template <int kDim, int kTiles>
struct WarpgroupShape {
  static_assert(kDim == 128 || kDim == 256, "a warpgroup holds 128 columns");
  static_assert(kDim == 128 || kTiles == 1, "at D 256 the warpgroups share one tile of pairs");

  static constexpr int kWarpgroups = kDim == 256 ? 2 : kTiles;
  static constexpr int kThreads = kWarpgroups * kWarpgroupThreads;
  static constexpr int kPairs = kTiles * kWarpgroupPairs;
  static constexpr int kPanels = kDim / kPanelColumns;  // of a row
  static constexpr int kHalfStages = kPanels / 2;       // a stage is two panels of K or of V
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kQPanelElements = kWarpgroupPairs * kPanelColumns;
  static constexpr int kQElements = kTiles * kPanels * kQPanelElements;

  // With what the alignment of panels may take.
  static constexpr std::int64_t shared_bytes(int num_stages) {
    return kPanelAlignment +
           2 * (std::int64_t{num_stages} * kStageElements + 2 * std::int64_t{kQElements}) +
           8 * kMostItemStreams;
  }
};

// What the items of a call are, the same on every block and in the merge.
struct ItemPlan {
  std::int32_t num_units = 0;           // a unit is a run of a (stream, key head, tile)
  std::int32_t num_whole = 0;           // units [0, num_whole) are one item each
  std::int32_t piece_slices = kSlices;  // of an item of the others: a group or a slice

  ASSAY_HOST_DEVICE std::int32_t unit_pieces() const { return kRunGroups * kSlices / piece_slices; }
};

// Whole waves of units stay whole; the rest is split when that ends sooner.
ASSAY_HOST_DEVICE inline ItemPlan plan_items(std::int32_t num_units,
                                             std::int32_t num_blocks,
                                             ItemSpill spill) {
  if (spill == ItemSpill::kRun) {
    return {num_units, num_units, kSlices};
  }
  if (spill != ItemSpill::kAuto) {
    return {num_units, 0, spill == ItemSpill::kSlice ? 1 : kSlices};
  }
  const std::int32_t whole = num_units / num_blocks * num_blocks;
  const std::int32_t split_waves = ((num_units - whole) * kRunGroups + num_blocks - 1) / num_blocks;
  return {num_units, split_waves < kRunGroups - 1 ? whole : num_units, kSlices};
}

struct GroupRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

// Runs that groups [begin, end) touch.
ASSAY_HOST_DEVICE inline std::int32_t num_runs_in(GroupRange groups) {
  return groups.end <= groups.begin ? 0
                                    : (groups.end - 1) / kRunGroups - groups.begin / kRunGroups + 1;
}

template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_tiles_of(const Source& source,
                                                   std::int32_t stream,
                                                   int tile_pairs) {
  return (source.num_rows(stream) * source.num_heads_per_key() + tile_pairs - 1) / tile_pairs;
}

// Units are ordered by stream, run, tile and key head, the last fastest.
template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_units_of(const Source& source,
                                                   std::int32_t stream,
                                                   int tile_pairs) {
  return num_runs_in(source.groups(stream)) * num_tiles_of(source, stream, tile_pairs) *
         source.num_kv_heads();
}

// Sum over the lanes of a warp.
ASSAY_DEVICE std::int32_t warp_sum(std::int32_t value) {
  for (int distance = 1; distance < kLanes; distance *= 2) {
    value += static_cast<std::int32_t>(
        bits_of(shuffle_xor(float_of(static_cast<std::uint32_t>(value)), distance)));
  }
  return value;
}

// Groups below it left the items of ItemSpill::kAuto folded into runs, for one pair of a stream. A
// warp calls together.
template <class Source>
ASSAY_DEVICE std::int32_t num_whole_groups(const Source& source,
                                           std::int32_t stream,
                                           std::int32_t pair,
                                           std::int32_t kv_head,
                                           int tile_pairs,
                                           std::int32_t num_blocks) {
  std::int32_t before = 0;
  std::int32_t units = 0;
  for (std::int32_t other = lane_id(); other < source.num_streams(); other += kLanes) {
    const std::int32_t of_stream = num_units_of(source, other, tile_pairs);
    before += other < stream ? of_stream : 0;
    units += of_stream;
  }
  before = warp_sum(before);
  const std::int32_t whole = plan_items(warp_sum(units), num_blocks, ItemSpill::kAuto).num_whole;

  // The pair's units are every `step`-th from `first`.
  const std::int32_t step = num_tiles_of(source, stream, tile_pairs) * source.num_kv_heads();
  const std::int32_t first = before + pair / tile_pairs * source.num_kv_heads() + kv_head;
  if (whole <= first) {
    return 0;
  }
  const GroupRange groups = source.groups(stream);
  const std::int32_t runs = groups.begin / kRunGroups + (whole - first + step - 1) / step;
  return runs * kRunGroups < groups.end ? runs * kRunGroups : groups.end;
}

// One item of a block: consecutive slices of one run.
struct Item {
  std::int32_t stream = 0;
  std::int32_t kv_head = 0;
  std::int32_t tile = 0;
  std::int32_t first_slice = 0;  // absolute, of keys(stream) within the groups
  std::int32_t end_slice = 0;
  ItemSpill spill = ItemSpill::kRun;  // whose state leaves
};

// The items of a block in order: every num_blocks'th of the plan.
template <class Source>
class ItemWalk {
 public:
  // `ends[s]` is the number of units of streams 0 .. s.
  ASSAY_DEVICE ItemWalk(const Source& source,
                        const std::int32_t* ends,
                        ItemPlan plan,
                        int tile_pairs,
                        std::int32_t first,
                        std::int32_t step)
      : source_(source),
        ends_(ends),
        plan_(plan),
        tile_pairs_(tile_pairs),
        next_(first),
        step_(step) {}

  // False when there is no further item.
  ASSAY_DEVICE bool next(Item& item) {
    for (;;) {
      const std::int32_t number = next_;
      const bool is_whole = number < plan_.num_whole;
      const std::int32_t pieces = is_whole ? 1 : plan_.unit_pieces();
      const std::int32_t past = is_whole ? number : number - plan_.num_whole;
      const std::int32_t unit = (is_whole ? 0 : plan_.num_whole) + past / pieces;
      if (unit >= plan_.num_units) {
        return false;
      }
      next_ += step_;
      item.spill = is_whole                  ? ItemSpill::kRun
                   : plan_.piece_slices == 1 ? ItemSpill::kSlice
                                             : ItemSpill::kGroup;
      if (locate(unit, past % pieces, is_whole ? kRunGroups * kSlices : plan_.piece_slices, item)) {
        return true;
      }
    }
  }

 private:
  // False when the unit does not have that piece.
  ASSAY_DEVICE bool locate(std::int32_t unit,
                           std::int32_t piece,
                           std::int32_t piece_slices,
                           Item& item) {
    while (unit >= ends_[stream_]) {
      ++stream_;
    }
    const std::int32_t place = unit - (stream_ == 0 ? 0 : ends_[stream_ - 1]);
    const std::int32_t num_heads = source_.num_kv_heads();
    const std::int32_t num_tiles = num_tiles_of(source_, stream_, tile_pairs_);
    const GroupRange groups = source_.groups(stream_);
    const std::int32_t run = groups.begin / kRunGroups + place / (num_heads * num_tiles);
    item.stream = stream_;
    item.kv_head = place % num_heads;
    item.tile = place / num_heads % num_tiles;

    const KeyRange keys = source_.keys(stream_);
    const std::int32_t first = run * kRunGroups * kSlices + piece * piece_slices;
    const std::int32_t least = larger_place(groups.begin * kSlices, keys.begin / kSliceKeys);
    const std::int32_t most =
        smaller_place(groups.end * kSlices, (keys.end + kSliceKeys - 1) / kSliceKeys);
    item.first_slice = larger_place(first, least);
    item.end_slice = smaller_place(first + piece_slices, most);
    return item.first_slice < item.end_slice;
  }

  static ASSAY_DEVICE std::int32_t larger_place(std::int32_t a, std::int32_t b) {
    return a > b ? a : b;
  }

  static ASSAY_DEVICE std::int32_t smaller_place(std::int32_t a, std::int32_t b) {
    return a < b ? a : b;
  }

  const Source& source_;
  const std::int32_t* ends_;
  ItemPlan plan_;
  int tile_pairs_;
  std::int32_t next_;
  std::int32_t step_;
  std::int32_t stream_ = 0;
};

// Copies stages ahead of what is computed, item after item.
template <int kDim, int kTiles, class Source>
class StageLoader {
  using Shape = WarpgroupShape<kDim, kTiles>;

 public:
  ASSAY_DEVICE StageLoader(const Source& source,
                           ItemWalk<Source> walk,
                           std::uint16_t* ring,
                           int num_stages,
                           std::uint16_t* q)
      : source_(source), walk_(walk), ring_(ring), q_(q), num_stages_(num_stages) {
    has_item_ = walk_.next(item_);
  }

  // Issues what fits: stages before computed + num_stages, and no item further than the one after
  // item `item_number`, whose q is still read.
  ASSAY_DEVICE void fill(int computed, int item_number) {
    while (has_item_ && issued_ < computed + num_stages_ && item_number_ <= item_number + 1) {
      issue();
    }
  }

  // Waits until `computed` stages and one more have arrived.
  ASSAY_DEVICE void wait_for(int computed) const { wait_for_all_but(issued_ - computed - 1); }

 private:
  ASSAY_DEVICE void issue() {
    if (slice_ == 0 && stage_ == 0) {
      load_q();
    }
    load_stage();
    commit_copies();
    ++issued_;
    if (++stage_ == Shape::kSliceStages) {
      stage_ = 0;
      if (item_.first_slice + ++slice_ == item_.end_slice) {
        slice_ = 0;
        ++item_number_;
        has_item_ = walk_.next(item_);
      }
    }
  }

  ASSAY_DEVICE void load_q() {
    std::uint16_t* q = q_ + item_number_ % 2 * Shape::kQElements;
    const int num_pairs =
        source_.num_rows(item_.stream) * source_.num_heads_per_key() - item_.tile * Shape::kPairs;
    constexpr int kChunks = kDim / 8;
    for (int index = thread_id(); index < Shape::kPairs * kChunks; index += Shape::kThreads) {
      const int pair = index / kChunks;
      const int chunk = index % kChunks;
      const bool is_there = pair < num_pairs;
      const std::uint16_t* from =
          source_.q_row(
              item_.stream, is_there ? item_.tile * Shape::kPairs + pair : 0, item_.kv_head) +
          8 * chunk;
      const int tile = pair / kWarpgroupPairs;
      const int row = pair % kWarpgroupPairs;
      std::uint16_t* panel = q + (tile * Shape::kPanels + chunk / 8) * Shape::kQPanelElements;
      copy_async(
          reinterpret_cast<std::byte*>(panel + row * kPanelColumns + ((chunk % 8) ^ (row % 8)) * 8),
          from,
          is_there);
    }
  }

  // Stages of a slice: K panels two by two, then V panels. At D 256 a stage of V has a panel of
  // each half, one for each warpgroup.
  ASSAY_DEVICE void load_stage() {
    std::uint16_t* stage = ring_ + issued_ % num_stages_ * Shape::kStageElements;
    const bool is_value = stage_ >= Shape::kHalfStages;
    const int half = is_value ? stage_ - Shape::kHalfStages : stage_;
    const std::int32_t first = (item_.first_slice + slice_) * kSliceKeys;
    const KeyRange keys = source_.keys(item_.stream);
    constexpr int kChunks = kPanelColumns / 8;
    for (int index = thread_id(); index < 2 * kSliceKeys * kChunks; index += Shape::kThreads) {
      const int chunk = index % kChunks;
      const int place = index / kChunks % 2;
      const int row = index / (2 * kChunks);
      const int panel = is_value && kDim == 256 ? 2 * place + half : 2 * half + place;
      const std::int32_t position = first + row;
      const bool is_seen = position >= keys.begin && position < keys.end;
      const std::int32_t read = is_seen ? position : keys.begin;
      const std::uint16_t* from = (is_value ? source_.v_row(item_.stream, item_.kv_head, read)
                                            : source_.k_row(item_.stream, item_.kv_head, read)) +
                                  kPanelColumns * panel + 8 * chunk;
      std::uint16_t* target =
          stage + place * Shape::kPanelElements + row * kPanelColumns + (chunk ^ (row % 8)) * 8;
      copy_async(reinterpret_cast<std::byte*>(target), from, is_seen);
    }
  }

  const Source& source_;
  ItemWalk<Source> walk_;
  std::uint16_t* ring_;
  std::uint16_t* q_;
  int num_stages_;
  Item item_;
  bool has_item_ = false;
  int item_number_ = 0;
  int issued_ = 0;
  int slice_ = 0;
  int stage_ = 0;
};

}  // namespace assay::kernels::attention
