// Items of the warpgroup form of attention (cuda_warpgroup.cuh), and the warp that copies for them:
// all (row, query head) pairs of a stream and key head, in tiles of 64, share staged panels of K
// and V (cuda_wgmma.cuh). A block walks items, each the slices of a run, of a group or one slice.
// At D 128 a warpgroup holds a tile of 64 pairs; at D 256 two warpgroups share one: each computes
// the weights of half of a slice's keys and holds half of the columns.
//
// A Source says what is attended; all of it may be read on the device:
//   num_streams(), num_rows(stream), num_kv_heads(), num_heads_per_key()
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
#include "kernels/attention/cuda_item_plan.cuh"
#include "kernels/attention/cuda_ring.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstddef>
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

// What leaves an item: a run's, a group's or a slice's state. kAuto: as the plan cuts runs.
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
  std::int32_t is_new_tile = 0;       // other queries than the block's item before
  KeyRange common;                    // when kIsMasked
};

// Barriers of a block and the items that its copying warp is ahead by.
struct ItemControl {
  Barrier full[kMostItemStages];
  Barrier empty[kMostItemStages];
  Barrier published[kItemSlots];
  Item items[kItemSlots];
};

// What two warpgroups tell each other that each have half of a slice's keys.
struct SliceHalves {
  float maxima[2][kWarpgroupPairs];
  float sums[kWarpgroupPairs][8];  // of the first half, by key modulo 8
};

template <int kDimOf, int kTiles>
struct WarpgroupShape {
  static_assert(kDimOf == 128 || kDimOf == 256, "a warpgroup holds 128 columns");
  static_assert(kDimOf == 128 || kTiles == 1, "at D 256 the warpgroups share one tile of pairs");

  static constexpr int kDim = kDimOf;
  static constexpr int kWarpgroups = kDim == 256 ? 2 : kTiles;
  static constexpr int kConsumers = kWarpgroups * kWarpgroupThreads;
  // Beside those that compute, a warpgroup whose first warp copies: registers can be handed over
  // between whole warpgroups only.
  static constexpr int kThreads = kConsumers + kWarpgroupThreads;
  static constexpr int kBlocksPerSm = kDim == 128 && kTiles == 1 ? 2 : 1;
  static constexpr int kCopyRegisters = 40;  // of a thread
  static constexpr int kComputeRegisters = kBlocksPerSm == 2 ? 216 : 232;
  static constexpr int kPairs = kTiles * kWarpgroupPairs;
  static constexpr int kPanels = kDim / kPanelColumns;  // of a row
  static constexpr int kHalfStages = kPanels / 2;       // a stage is two panels of K or of V
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kQPanelElements = kWarpgroupPairs * kPanelColumns;
  static constexpr int kQElements = kTiles * kPanels * kQPanelElements;

  // Weights of a slice that the warpgroups share.
  static constexpr int kWeightElements = kDim == 256 ? kWarpgroupPairs * kSliceKeys : 0;
  static constexpr int kHalvesBytes = kDim == 256 ? static_cast<int>(sizeof(SliceHalves)) : 0;

  static constexpr std::int64_t shared_bytes(int num_stages) {
    return 2 * (std::int64_t{num_stages} * kStageElements + std::int64_t{kQElements} +
                std::int64_t{kWeightElements}) +
           kWarpgroups * kWarpgroupStateBytes + kHalvesBytes +
           kPairs * static_cast<std::int64_t>(sizeof(KeyRange)) +
           static_cast<std::int64_t>(sizeof(ItemControl));
  }
};

// Tiles and key heads of a stream.
template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_units_of(const Source& source,
                                                   std::int32_t stream,
                                                   int tile_pairs) {
  const std::int32_t pairs = source.num_rows(stream) * source.num_heads_per_key();
  return (pairs + tile_pairs - 1) / tile_pairs * source.num_kv_heads();
}

// Whole runs of a stream, of all its tiles and key heads.
template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_whole_runs_of(const Source& source,
                                                        std::int32_t stream,
                                                        int tile_pairs) {
  return WholePieces::of(slices_of(source.keys(stream)), kRunSize).count *
         num_units_of(source, stream, tile_pairs);
}

// How a stream is cut. A warp calls together.
template <class Source>
ASSAY_DEVICE StreamCut
cut_of(const Source& source, std::int32_t stream, const ItemPlan& plan, int tile_pairs) {
  std::int32_t before = 0;
  if (plan.num_whole > 0) {
    for (std::int32_t other = lane_id(); other < stream; other += kLanes) {
      before += num_whole_runs_of(source, other, tile_pairs);
    }
    before = warp_sum(before);
  }
  return StreamCut::of(
      slices_of(source.keys(stream)), plan, num_units_of(source, stream, tile_pairs), before);
}

// The items of a block in order: every num_blocks'th of the plan. A warp calls together.
template <class Source>
class ItemWalk {
 public:
  ASSAY_DEVICE ItemWalk(const Source& source,
                        const ItemPlan& plan,
                        int tile_pairs,
                        std::int32_t first,
                        std::int32_t num_blocks)
      : source_(source), plan_(plan), tile_pairs_(tile_pairs), next_(first), step_(num_blocks) {
    take_streams(0);
  }

  // False when there is no further item.
  ASSAY_DEVICE bool next(Item& item) {
    for (;;) {
      const std::int32_t end = shuffle_from(end_, kLanes - 1);
      if (next_ < end) {
        break;
      }
      begin_ = end;
      runs_before_ += runs_here_;
      if (first_stream_ + kLanes < source_.num_streams()) {
        take_streams(first_stream_ + kLanes);
      } else if (++level_ < kItemLevels) {
        runs_before_ = 0;
        take_streams(0);
      } else {
        return false;
      }
    }
    locate(next_, item);
    next_ += step_;
    return true;
  }

 private:
  // A stream for each lane from `first` on, and the items of the level up to its end.
  ASSAY_DEVICE void take_streams(std::int32_t first) {
    first_stream_ = first;
    const std::int32_t stream = first + lane_id();
    const bool is_there = stream < source_.num_streams();
    own_runs_before_ = 0;
    runs_here_ = 0;
    if (plan_.num_whole > 0) {
      const std::int32_t runs = is_there ? num_whole_runs_of(source_, stream, tile_pairs_) : 0;
      const std::int32_t up_to = sum_of_lanes_before(runs);
      own_runs_before_ = runs_before_ + up_to - runs;
      runs_here_ = shuffle_from(up_to, kLanes - 1);
    }
    std::int32_t items = 0;
    if (is_there) {
      const std::int32_t units = num_units_of(source_, stream, tile_pairs_);
      items = units * StreamCut::of(slices_of(source_.keys(stream)), plan_, units, own_runs_before_)
                          .count(level_);
    }
    end_ = begin_ + sum_of_lanes_before(items);
  }

  // Of the lanes up to this one.
  static ASSAY_DEVICE std::int32_t sum_of_lanes_before(std::int32_t value) {
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const std::int32_t before = shuffle_from(value, lane_id() - distance);
      value += lane_id() >= distance ? before : 0;
    }
    return value;
  }

  ASSAY_DEVICE void locate(std::int32_t number, Item& item) {
    const std::int32_t passed = warp_sum(end_ <= number ? 1 : 0);
    const std::int32_t end_before = shuffle_from(end_, passed - 1);
    const std::int32_t place = number - (passed == 0 ? begin_ : end_before);
    const std::int32_t stream = first_stream_ + passed;
    const std::int32_t units = num_units_of(source_, stream, tile_pairs_);
    const StreamCut cut = StreamCut::of(
        slices_of(source_.keys(stream)), plan_, units, shuffle_from(own_runs_before_, passed));
    const SliceRange slices = cut.item(level_, place / units);
    item.stream = stream;
    item.kv_head = place % units % source_.num_kv_heads();
    item.tile = place % units / source_.num_kv_heads();
    item.first_slice = slices.begin;
    item.end_slice = slices.end;
    item.spill = cut.leaves_run(slices.begin) ? ItemSpill::kRun : ItemSpill::kGroup;
    item.first_lone_slice = plan_.leaves_slices() ? 0 : source_.num_whole_groups(stream) * kSlices;
  }

  const Source& source_;
  const ItemPlan& plan_;
  int tile_pairs_;
  std::int32_t next_;
  std::int32_t step_;
  int level_ = 0;
  std::int32_t begin_ = 0;  // items before the level's of first_stream_
  std::int32_t first_stream_ = 0;
  std::int32_t runs_before_ = 0;  // whole ones, of streams before first_stream_
  std::int32_t runs_here_ = 0;    // of the lanes' streams
  std::int32_t own_runs_before_ = 0;
  std::int32_t end_ = 0;  // the lane's
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
template <class Shape, class Source>
class StageProducer {
  static constexpr int kDim = Shape::kDim;

 public:
  ASSAY_DEVICE StageProducer(const Source& source,
                             const PanelMaps& maps,
                             std::uint16_t* ring,
                             int num_stages,
                             ItemControl& control)
      : source_(source), maps_(maps), ring_(ring), num_stages_(num_stages), control_(control) {}

  ASSAY_DEVICE void run(ItemWalk<Source> walk) {
    Item item;
    Item last;
    last.stream = -1;
    while (walk.next(item)) {
      item.is_new_tile =
          item.stream != last.stream || item.kv_head != last.kv_head || item.tile != last.tile;
      last = item;
      if constexpr (Source::kIsMasked) {
        item.common = source_.common(item.stream);
      }
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

// Where states go. W rows, H query heads.
struct StateOutput {
  StateArrays groups;  // [groups, W, H]
  StateArrays runs;    // [runs, W, H]
  StateArrays slices;  // [groups, 4, W, H]
  std::int32_t num_rows;
  std::int32_t num_heads;
};

inline constexpr int kQueriesBarrier = 1;  // and the next one
inline constexpr int kHalvesBarrier = 3;

// All threads of the block.
template <class Shape>
ASSAY_DEVICE void init_control(ItemControl& control) {
  if (thread_id() == 0) {
    for (int i = 0; i < kMostItemStages; ++i) {
      init_barrier(control.full[i], kLanes);
      init_barrier(control.empty[i], Shape::kConsumers / kLanes);
    }
    for (int i = 0; i < kItemSlots; ++i) {
      init_barrier(control.published[i], 1);
    }
    fence_barriers();
  }
  sync_block();
}

// The threads that do not compute: one warp of them copies the block's items.
template <class Shape, class Source>
ASSAY_DEVICE void copy_items(const Source& source,
                             const PanelMaps& maps,
                             const ItemPlan& plan,
                             std::int32_t num_blocks,
                             std::uint16_t* ring,
                             int num_stages,
                             ItemControl& control) {
  give_registers<Shape::kCopyRegisters>();
  if (thread_id() < Shape::kConsumers + kLanes) {
    StageProducer<Shape, Source> producer(source, maps, ring, num_stages, control);
    producer.run(ItemWalk<Source>(
        source, plan, Shape::kPairs, static_cast<std::int32_t>(block_id()), num_blocks));
  }
}

// All threads of a block that has something else to do: body() in those that compute.
template <class Shape, class Body>
ASSAY_DEVICE void run_instead_of_items(const Body& body) {
  if (thread_id() >= Shape::kConsumers) {
    give_registers<Shape::kCopyRegisters>();
  } else {
    take_registers<Shape::kComputeRegisters>();
    body();
  }
}

// The block's next item. It stays until the stages of later items are given back.
ASSAY_DEVICE const Item& next_item(ItemControl& control, int number) {
  wait_for_phase(control.published[number % kItemSlots], number / kItemSlots % 2);
  return control.items[number % kItemSlots];
}

// Where a thread that computes is in the ring.
class StagePlace {
 public:
  ASSAY_DEVICE explicit StagePlace(int num_stages) : num_stages_(num_stages) {}

  ASSAY_DEVICE int num_stages() const { return num_stages_; }

  // The next stage, when it has arrived; rows may have been copied to it one by one.
  template <bool kHasRows>
  ASSAY_DEVICE int next(ItemControl& control) {
    const int slot = slot_;
    wait_for_phase(control.full[slot], wraps_ % 2);
    if constexpr (kHasRows) {
      fence_async_proxy();
    }
    if (++slot_ == num_stages_) {
      slot_ = 0;
      ++wraps_;
    }
    return slot;
  }

 private:
  int num_stages_;
  int slot_ = 0;
  int wraps_ = 0;  // of the ring
};

// A warp has read a stage.
ASSAY_DEVICE void give_back(ItemControl& control, int slot) {
  if (lane_id() == 0) {
    arrive(control.empty[slot]);
  }
}

// Each stage when the group of steps that reads it is done.
template <std::size_t kGroups>
ASSAY_DEVICE void give_back_after_steps(ItemControl& control, const int (&slots)[kGroups]) {
  static_assert(kGroups <= 2, "a group of steps for each stage");
  if constexpr (kGroups == 2) {
    wgmma_wait<1>();
    give_back(control, slots[0]);
  }
  wgmma_wait();
  give_back(control, slots[kGroups - 1]);
}

}  // namespace assay::kernels::attention
