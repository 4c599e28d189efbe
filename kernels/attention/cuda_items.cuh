// Items of the warpgroup form of attention (cuda_warpgroup.cuh), and the warp that copies for them:
// all (row, query head) pairs of a stream and key head, in tiles of 64, share staged panels of K
// and V (cuda_wgmma.cuh). A block walks items, each the slices of a run, of a group or one slice.
// At D 128 a warpgroup holds a tile of 64 pairs; at D 256 two warpgroups hold half of the columns
// each and compute the same scores.
//
// A Source says what is attended; all of it may be read on the device:
//   num_streams(), num_rows(stream), groups(stream): group numbers [begin, end)
//   keys(stream): positions that any row sees; the others' values are read as zeros
//   num_whole_groups(stream): groups from it on leave as slices
//   k_at(stream, kv_head), v_at(): element of position 0 in the tensor that K's or V's map covers
//   q_row(stream, pair, kv_head): D elements
//   row(stream, local row): its place in the output
// and when kIsMasked, else all rows see all of keys(stream), which are whole slices of the map:
//   range(stream, local row): what a row sees
//   common(stream): what all rows see
//   mapped(stream): positions that lie in the map
//   k_rows(stream, kv_head), v_rows(): at(position) of which are D elements, mapped or not
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_ring.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupPairs = 64;
inline constexpr int kWarpgroupColumns = 128;
inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelAlignment = 1'024;
inline constexpr int kPanelBytes = kSliceKeys * kPanelColumns * 2;
inline constexpr int kWarpgroupStateBytes = kWarpgroupPairs * kWarpgroupColumns * 4;
inline constexpr int kBoxRows = 8;  // of the small boxes
inline constexpr int kMostItemStages = 6;
inline constexpr int kItemSlots = 8;

// What leaves an item: a run's, a group's or a slice's state. kAuto: runs as far as they fill the
// grid, else groups.
enum class ItemSpill : std::int32_t { kAuto, kRun, kGroup, kSlice };

// One item of a block: consecutive slices of one run. One without slices ends the block's work.
struct Item {
  std::int32_t stream = 0;
  std::int32_t kv_head = 0;
  std::int32_t tile = 0;
  std::int32_t first_slice = 0;  // absolute, of keys(stream) within the groups
  std::int32_t end_slice = 0;
  std::int32_t first_lone_slice = 0;  // this and later ones leave as slices
  ItemSpill spill = ItemSpill::kRun;  // whose state leaves, of the slices before
};

// Barriers of a block and the items that its copying warp is ahead by.
struct ItemControl {
  Barrier full[kMostItemStages];
  Barrier empty[kMostItemStages];
  Barrier published[kItemSlots];
  Item items[kItemSlots];
};

template <int kDim, int kTiles>
struct WarpgroupShape {
  static_assert(kDim == 128 || kDim == 256, "a warpgroup holds 128 columns");
  static_assert(kDim == 128 || kTiles == 1, "at D 256 the warpgroups share one tile of pairs");

  static constexpr int kWarpgroups = kDim == 256 ? 2 : kTiles;
  static constexpr int kConsumers = kWarpgroups * kWarpgroupThreads;
  // Beside those that compute, a warpgroup whose first warp copies: registers can be handed over
  // between whole warpgroups only.
  static constexpr int kThreads = kConsumers + kWarpgroupThreads;
  static constexpr int kBlocksPerSm = kDim == 128 && kTiles == 1 ? 2 : 1;
  static constexpr int kCopyRegisters = 56;  // of a thread
  static constexpr int kComputeRegisters = kBlocksPerSm == 2 ? 200 : 224;
  static constexpr int kPairs = kTiles * kWarpgroupPairs;
  static constexpr int kPanels = kDim / kPanelColumns;  // of a row
  static constexpr int kHalfStages = kPanels / 2;       // a stage is two panels of K or of V
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kQPanelElements = kWarpgroupPairs * kPanelColumns;
  static constexpr int kQElements = kTiles * kPanels * kQPanelElements;

  static constexpr std::int64_t shared_bytes(int num_stages) {
    return 2 * (std::int64_t{num_stages} * kStageElements + std::int64_t{kQElements}) +
           kWarpgroups * kWarpgroupStateBytes + static_cast<std::int64_t>(sizeof(ItemControl));
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
  return smaller_place(runs * kRunGroups, source.num_whole_groups(stream));
}

// The items of a block in order: every num_blocks'th of the plan. A warp calls together.
template <class Source>
class ItemWalk {
 public:
  ASSAY_DEVICE ItemWalk(const Source& source,
                        ItemSpill spill,
                        int tile_pairs,
                        std::int32_t first,
                        std::int32_t num_blocks)
      : source_(source), tile_pairs_(tile_pairs), next_(first), step_(num_blocks) {
    take_streams(0);
    std::int32_t units = shuffle_from(end_, kLanes - 1);
    if (source_.num_streams() > kLanes) {
      std::int32_t others = 0;
      for (std::int32_t stream = kLanes + lane_id(); stream < source_.num_streams();
           stream += kLanes) {
        others += num_units_of(source_, stream, tile_pairs_);
      }
      units += warp_sum(others);
    }
    plan_ = plan_items(units, num_blocks, spill);
  }

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
  // A stream for each lane from `first` on, and the number of units up to its end.
  ASSAY_DEVICE void take_streams(std::int32_t first) {
    first_stream_ = first;
    const std::int32_t stream = first + lane_id();
    end_ = stream < source_.num_streams() ? num_units_of(source_, stream, tile_pairs_) : 0;
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const std::int32_t before = shuffle_from(end_, lane_id() - distance);
      end_ += lane_id() >= distance ? before : 0;
    }
    end_ += units_before_;
  }

  // False when the unit does not have that piece.
  ASSAY_DEVICE bool locate(std::int32_t unit,
                           std::int32_t piece,
                           std::int32_t piece_slices,
                           Item& item) {
    std::int32_t passed = warp_sum(end_ <= unit ? 1 : 0);
    while (passed == kLanes) {
      units_before_ = shuffle_from(end_, kLanes - 1);
      take_streams(first_stream_ + kLanes);
      passed = warp_sum(end_ <= unit ? 1 : 0);
    }
    const std::int32_t end_before = shuffle_from(end_, passed - 1);
    const std::int32_t place = unit - (passed == 0 ? units_before_ : end_before);
    const std::int32_t stream = first_stream_ + passed;
    const std::int32_t num_heads = source_.num_kv_heads();
    const std::int32_t num_tiles = num_tiles_of(source_, stream, tile_pairs_);
    const GroupRange groups = source_.groups(stream);
    const std::int32_t run = groups.begin / kRunGroups + place / (num_heads * num_tiles);
    item.stream = stream;
    item.kv_head = place % num_heads;
    item.tile = place / num_heads % num_tiles;

    const KeyRange keys = source_.keys(stream);
    const std::int32_t first = run * kRunGroups * kSlices + piece * piece_slices;
    const std::int32_t least = larger_place(groups.begin * kSlices, keys.begin / kSliceKeys);
    const std::int32_t most =
        smaller_place(groups.end * kSlices, (keys.end + kSliceKeys - 1) / kSliceKeys);
    item.first_slice = larger_place(first, least);
    item.end_slice = smaller_place(first + piece_slices, most);
    item.first_lone_slice =
        item.spill == ItemSpill::kSlice ? 0 : source_.num_whole_groups(stream) * kSlices;
    return item.first_slice < item.end_slice;
  }

  const Source& source_;
  ItemPlan plan_;
  int tile_pairs_;
  std::int32_t next_;
  std::int32_t step_;
  std::int32_t first_stream_ = 0;
  std::int32_t units_before_ = 0;  // of streams before first_stream_
  std::int32_t end_ = 0;           // the lane's
};

// Where K and V lie for copies of whole panels: rows of 64 columns by position, eight elements
// apart in their last coordinate.
struct PanelMaps {
  TensorMap k;  // boxes of a slice
  TensorMap v;
  TensorMap k_rows;  // boxes of kBoxRows; when kIsMasked
  TensorMap v_rows;
};

// The warp that copies stages ahead of what is computed, item after item, and publishes the items.
template <int kDim, int kTiles, class Source>
class StageProducer {
  using Shape = WarpgroupShape<kDim, kTiles>;

 public:
  ASSAY_DEVICE StageProducer(const Source& source,
                             const PanelMaps& maps,
                             std::uint16_t* ring,
                             int num_stages,
                             ItemControl& control)
      : source_(source), maps_(maps), ring_(ring), num_stages_(num_stages), control_(control) {}

  ASSAY_DEVICE void run(ItemWalk<Source> walk) {
    Item item;
    while (walk.next(item)) {
      publish(item);
      const std::int64_t k_at = source_.k_at(item.stream, item.kv_head);
      const std::int64_t v_at = source_.v_at(item.stream, item.kv_head);
      if constexpr (Source::kIsMasked) {
        const KeyRange mapped = source_.mapped(item.stream);
        keys_ = source_.keys(item.stream);
        boxed_ = {larger_place(keys_.begin, mapped.begin), smaller_place(keys_.end, mapped.end)};
      }
      for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
        ASSAY_NO_UNROLL
        for (int stage = 0; stage < Shape::kSliceStages; ++stage) {
          const bool is_value = stage >= Shape::kHalfStages;
          load_stage(item, slice, stage, is_value, is_value ? v_at : k_at);
        }
      }
    }
    item.first_slice = item.end_slice = 0;
    publish(item);
  }

 private:
  ASSAY_DEVICE void publish(const Item& item) {
    if (lane_id() == 0) {
      control_.items[published_ % kItemSlots] = item;
      arrive(control_.published[published_ % kItemSlots]);
    }
    ++published_;
  }

  // Stages of a slice: K panels two by two, then V panels. At D 256 a stage of V has a panel of
  // each half, one for each warpgroup.
  ASSAY_DEVICE void load_stage(
      const Item& item, std::int32_t slice, int stage, bool is_value, std::int64_t at) {
    if (wraps_ > 0) {
      wait_for_phase(control_.empty[slot_], (wraps_ - 1) % 2);
    }
    Barrier& full = control_.full[slot_];
    std::uint16_t* target = ring_ + slot_ * Shape::kStageElements;
    const int half = is_value ? stage - Shape::kHalfStages : stage;
    const int first_panel = is_value && kDim == 256 ? half : 2 * half;
    const int panel_step = is_value && kDim == 256 ? 2 : 1;
    const std::int32_t first = slice * kSliceKeys;
    if (!Source::kIsMasked || is_boxed(first, first + kSliceKeys)) {
      if (lane_id() == 0) {
        arrive_expecting(full, 2 * kPanelBytes);
        for (int place = 0; place < 2; ++place) {
          copy_box(target + place * Shape::kPanelElements,
                   is_value ? maps_.v : maps_.k,
                   first,
                   at / 8 + (first_panel + place * panel_step) * (kPanelColumns / 8),
                   full);
        }
      } else {
        arrive(full);
      }
    } else if constexpr (Source::kIsMasked) {
      load_pieces(item, first, is_value, first_panel, panel_step, at, target, full);
    }
    if (++slot_ == num_stages_) {
      slot_ = 0;
      ++wraps_;
    }
  }

  ASSAY_DEVICE bool is_boxed(std::int32_t begin, std::int32_t end) const {
    return begin >= boxed_.begin && end <= boxed_.end;
  }

  // A slice that is not all there: boxes of eight rows that are, other rows one by one, zeros for
  // the values of keys that no row sees. Scores of such keys are masked, whatever lies there.
  ASSAY_DEVICE void load_pieces(const Item& item,
                                std::int32_t first,
                                bool is_value,
                                int first_panel,
                                int panel_step,
                                std::int64_t at,
                                std::uint16_t* target,
                                Barrier& full) {
    constexpr int kBoxes = kSliceKeys / kBoxRows;
    static_assert(2 * kBoxes == kLanes, "a lane for each box of two panels");
    const int box = lane_id() % kBoxes;
    const int place = lane_id() / kBoxes;
    const bool has_box = is_boxed(first + kBoxRows * box, first + kBoxRows * (box + 1));
    const std::int32_t num_boxes = warp_sum(has_box ? 1 : 0);
    if (lane_id() == 0) {
      expect_bytes(full, num_boxes * kBoxRows * kPanelColumns * 2);
    }
    sync_warp();
    if (has_box) {
      copy_box(target + place * Shape::kPanelElements + box * kBoxRows * kPanelColumns,
               is_value ? maps_.v_rows : maps_.k_rows,
               first + kBoxRows * box,
               at / 8 + (first_panel + place * panel_step) * (kPanelColumns / 8),
               full);
    }
    const auto rows = is_value ? source_.v_rows(item.stream, item.kv_head)
                               : source_.k_rows(item.stream, item.kv_head);
    const int chunk = lane_id() % 8;
    const int panel = lane_id() / 8 % 2;
    const int column = kPanelColumns * (first_panel + panel * panel_step) + 8 * chunk;
    std::uint16_t* to = target + panel * Shape::kPanelElements + lane_id() / 16 * kPanelColumns;
    ASSAY_NO_UNROLL
    for (int other = 0; other < kBoxes; ++other) {
      const std::int32_t begin = first + kBoxRows * other;
      const bool has_seen = begin < keys_.end && begin + kBoxRows > keys_.begin;
      if (is_boxed(begin, begin + kBoxRows) || (!has_seen && !is_value)) {
        continue;
      }
      ASSAY_UNROLL
      for (int pair = 0; pair < kBoxRows / 2; ++pair) {
        const int row = 2 * pair + lane_id() / 16;
        const std::int32_t position = begin + row;
        const bool is_seen = position >= keys_.begin && position < keys_.end;
        copy_async(reinterpret_cast<std::byte*>(to + (kBoxRows * other + 2 * pair) * kPanelColumns +
                                                (chunk ^ row) * 8),
                   rows.at(is_seen ? position : keys_.begin) + column,
                   is_seen);
      }
    }
    arrive_when_copied(full);
  }

  const Source& source_;
  const PanelMaps& maps_;
  std::uint16_t* ring_;
  int num_stages_;
  ItemControl& control_;
  KeyRange keys_;   // of the item's stream
  KeyRange boxed_;  // those of them that copies of boxes may read
  int published_ = 0;
  int slot_ = 0;
  int wraps_ = 0;  // of the ring
};

}  // namespace assay::kernels::attention
