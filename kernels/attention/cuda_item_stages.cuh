// The ring of stages of the warpgroup form of attention: the warp that copies the panels of items
// (cuda_items.cuh) ahead, and how the threads that compute take them and give them back.
#pragma once

#include "kernels/attention/cuda_items.cuh"
#include "kernels/attention/cuda_ring.cuh"
#include "kernels/attention/cuda_state.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

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
        mapped_ = source_.mapped(item.stream);
        keys_ = source_.keys(item.stream);
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
    if (!Source::kIsMasked || is_boxed(first, first + kSliceKeys, is_value)) {
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

  // Whether a copy of a box may read these positions. Keys that no row sees may hold anything,
  // since their scores are masked; their values have to be zeros.
  ASSAY_DEVICE bool is_boxed(std::int32_t begin, std::int32_t end, bool is_value) const {
    const bool is_mapped = begin >= mapped_.begin && end <= mapped_.end;
    return is_mapped && (!is_value || (begin >= keys_.begin && end <= keys_.end));
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
    const bool has_box = is_boxed(first + kBoxRows * box, first + kBoxRows * (box + 1), is_value);
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
    // A row that is not read still needs an address.
    const std::uint16_t* unread = rows.at(keys_.begin) + column;
    ASSAY_NO_UNROLL
    for (int other = 0; other < kBoxes; ++other) {
      const std::int32_t begin = first + kBoxRows * other;
      const bool has_seen = begin < keys_.end && begin + kBoxRows > keys_.begin;
      if (is_boxed(begin, begin + kBoxRows, is_value) || (!has_seen && !is_value)) {
        continue;
      }
      ASSAY_UNROLL
      for (int pair = 0; pair < kBoxRows / 2; ++pair) {
        const int row = 2 * pair + lane_id() / 16;
        const std::int32_t position = begin + row;
        const bool is_seen = has_seen && position >= keys_.begin && position < keys_.end;
        copy_async(reinterpret_cast<std::byte*>(to + (kBoxRows * other + 2 * pair) * kPanelColumns +
                                                (chunk ^ row) * 8),
                   is_seen ? rows.at(position) + column : unread,
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
  KeyRange keys_;    // of the item's stream
  KeyRange mapped_;  // positions that copies of boxes may read
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

// Which of the blocks that share a call's items.
struct BlockOfItems {
  std::int32_t number;
  std::int32_t count;
};

// The threads that do not compute: one warp of them copies the block's items.
template <class Shape, class Source>
ASSAY_DEVICE void copy_items(const Source& source,
                             const PanelMaps& maps,
                             const ItemPlan& plan,
                             const BlockOfItems& block,
                             std::uint16_t* ring,
                             int num_stages,
                             ItemControl& control) {
  give_registers<Shape::kCopyRegisters>();
  if (thread_id() < Shape::kConsumers + kLanes) {
    if (lane_id() == 0) {
      prefetch_map(maps.k);
      prefetch_map(maps.v);
    }
    StageProducer<Shape, Source> producer(source, maps, ring, num_stages, control);
    producer.run(ItemWalk<Source>(source, plan, Shape::kPairs, block.number, block.count));
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

// What the threads that compute do: begin_tile(item) where its queries are other ones,
// attend(item).
template <class Shape, class BeginTile, class Attend>
ASSAY_DEVICE void compute_items(ItemControl& control,
                                const BeginTile& begin_tile,
                                const Attend& attend) {
  take_registers<Shape::kComputeRegisters>();
  for (int number = 0;; ++number) {
    wait_for_phase(control.published[number % kItemSlots], number / kItemSlots % 2);
    // It stays until the stages of later items are given back.
    const Item& item = control.items[number % kItemSlots];
    if (item.first_slice == item.end_slice) {
      break;
    }
    if (item.is_new_tile != 0) {
      begin_tile(item);
    }
    attend(item);
  }
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
