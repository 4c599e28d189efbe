// The warpgroup form of attention on sm_90a (cuda_items.cuh says what is walked): 64 pairs by 128
// columns a warpgroup; scores, weights and a slice's state in registers, a group's in shared
// memory, a run's where it is stored. One warp copies ahead; the others wait for stages and give
// them back. The bits are contract.h's: what a stage holds, who copies it and how items are split
// changes none.
#pragma once

#include "kernels/attention/cuda_items.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// Where states go. W rows, H query heads.
struct StateOutput {
  StateArrays groups;  // [groups, W, H]
  StateArrays runs;    // [runs, W, H]
  StateArrays slices;  // [groups, 4, W, H]
  std::int32_t num_rows;
  std::int32_t num_heads;
};

// A thread's part of 64 pairs by 128 columns: rows lane / 4 and + 8 of its warp's sixteen; the
// columns of a row are 8 j + 2 (lane % 4) + c, j in 0..15, at [4 j + 2 r + c]. m and l are the same
// in the four lanes of a row; a row that saw no key has l 0.
struct TileState {
  float m[2];
  float l[2];
  float o[64];
};

// Place of the index'th of row r's 32 elements.
ASSAY_DEVICE constexpr int element(int r, int index) {
  return 4 * (index / 2) + 2 * r + index % 2;
}

// A group's state in shared memory: each thread finds there what it wrote.
struct GroupState {
  Float4* o;  // of the thread, a warpgroup's threads apart
  float m[2];
  float l[2];

  ASSAY_DEVICE void write(const TileState& state) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      m[r] = state.m[r];
      l[r] = state.l[r];
    }
    ASSAY_UNROLL
    for (int j = 0; j < 16; ++j) {
      o[j * kWarpgroupThreads] = {
          state.o[4 * j], state.o[4 * j + 1], state.o[4 * j + 2], state.o[4 * j + 3]};
    }
  }

  // The state becomes what lies here with the state folded in. Without masks no row of either is
  // empty.
  template <bool kIsMasked>
  ASSAY_DEVICE void fold_before(TileState& state) const {
    RowFold rows[2];
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      rows[r] = RowFold::of(m[r], l[r], state.m[r], state.l[r]);
      state.m[r] = kIsMasked ? rows[r].max(m[r], state.m[r]) : rows[r].factors.m;
      state.l[r] =
          kIsMasked ? rows[r].value(l[r], state.l[r]) : rows[r].factors.fold(l[r], state.l[r]);
    }
    ASSAY_UNROLL
    for (int j = 0; j < 16; ++j) {
      const Float4 before = o[j * kWarpgroupThreads];
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        float& value = state.o[4 * j + i];
        value = kIsMasked ? rows[i / 2].value(before.values[i], value)
                          : rows[i / 2].factors.fold(before.values[i], value);
      }
    }
  }
};

inline constexpr int kQueriesBarrier = 1;  // and the next one

template <class Exp, int kDim, int kTiles, class Source>
class WarpgroupAttention {
  using Shape = WarpgroupShape<kDim, kTiles>;

 public:
  // `shared` has Shape::shared_bytes(num_stages), aligned as panels are.
  ASSAY_DEVICE WarpgroupAttention(const Source& source,
                                  const PanelMaps& maps,
                                  const StateOutput& output,
                                  float scale,
                                  std::byte* shared,
                                  int num_stages)
      : source_(source), maps_(maps), output_(output), scale_(scale), num_stages_(num_stages) {
    ring_ = reinterpret_cast<std::uint16_t*>(shared);
    q_ = ring_ + num_stages * Shape::kStageElements;
    auto* states = reinterpret_cast<Float4*>(q_ + Shape::kQElements);
    constexpr int kStateElements = kWarpgroupStateBytes / static_cast<int>(sizeof(Float4));
    group_.o = states + warpgroup() * kStateElements + thread_id() % kWarpgroupThreads;
    control_ = reinterpret_cast<ItemControl*>(states + Shape::kWarpgroups * kStateElements);
  }

  // All threads of a block that has something else to do: body() in those that compute.
  template <class Body>
  static ASSAY_DEVICE void run_instead(const Body& body) {
    if (thread_id() >= Shape::kConsumers) {
      give_registers<Shape::kCopyRegisters>();
    } else {
      take_registers<Shape::kComputeRegisters>();
      body();
    }
  }

  // All threads of the block.
  ASSAY_DEVICE void run(ItemSpill spill, std::int32_t num_blocks) {
    if (thread_id() == 0) {
      for (int i = 0; i < kMostItemStages; ++i) {
        init_barrier(control_->full[i], kLanes);
        init_barrier(control_->empty[i], Shape::kConsumers / kLanes);
      }
      for (int i = 0; i < kItemSlots; ++i) {
        init_barrier(control_->published[i], 1);
      }
      fence_barriers();
    }
    sync_block();
    if (thread_id() >= Shape::kConsumers) {
      give_registers<Shape::kCopyRegisters>();
      if (thread_id() >= Shape::kConsumers + kLanes) {
        return;
      }
      StageProducer<kDim, kTiles, Source> producer(source_, maps_, ring_, num_stages_, *control_);
      producer.run(ItemWalk<Source>(
          source_, spill, Shape::kPairs, static_cast<std::int32_t>(block_id()), num_blocks));
      return;
    }
    take_registers<Shape::kComputeRegisters>();
    Item last;
    for (int number = 0;; ++number) {
      wait_for_phase(control_->published[number % kItemSlots], number / kItemSlots % 2);
      const Item item = control_->items[number % kItemSlots];
      if (item.first_slice == item.end_slice) {
        break;
      }
      if (number == 0 || item.stream != last.stream || item.kv_head != last.kv_head ||
          item.tile != last.tile) {
        load_queries(item);
      }
      attend(item);
      last = item;
    }
  }

 private:
  ASSAY_DEVICE static int warpgroup() { return thread_id() / kWarpgroupThreads; }

  // The tile of 64 pairs of a warpgroup; at D 256 both share one.
  ASSAY_DEVICE static int own_tile() { return kDim == 256 ? 0 : warpgroup(); }

  ASSAY_DEVICE std::uint16_t* own_queries() const {
    return q_ + own_tile() * Shape::kPanels * Shape::kQPanelElements;
  }

  // Threads that share a tile of queries.
  ASSAY_DEVICE static void sync_sharers() {
    if (kDim == 256 || warpgroup() == 0) {
      barrier_sync(kQueriesBarrier, kDim == 256 ? 2 * kWarpgroupThreads : kWarpgroupThreads);
    } else {
      barrier_sync(kQueriesBarrier + 1, kWarpgroupThreads);
    }
  }

  // The item's queries, zeros where there is no pair, and the thread's two pairs: their rows and
  // heads in the output, -1 where there is none, and what they see.
  ASSAY_DEVICE void load_queries(const Item& item) {
    constexpr int kThreads = kDim == 256 ? 2 * kWarpgroupThreads : kWarpgroupThreads;
    constexpr int kChunks = kDim / 8;
    const int group = source_.num_heads_per_key();
    const int first_pair = item.tile * Shape::kPairs + own_tile() * kWarpgroupPairs;
    const int num_pairs = source_.num_rows(item.stream) * group - first_pair;
    // No step of the item before still reads.
    sync_sharers();
    ASSAY_UNROLL
    for (int i = 0; i < kWarpgroupPairs * kChunks / kThreads; ++i) {
      const int index = i * kThreads + thread_id() % kThreads;
      const int pair = index / kChunks;
      const int chunk = index % kChunks;
      Float4 values = {};
      if (pair < num_pairs) {
        values = *reinterpret_cast<const Float4*>(
            source_.q_row(item.stream, first_pair + pair, item.kv_head) + 8 * chunk);
      }
      std::uint16_t* panel = own_queries() + chunk / 8 * Shape::kQPanelElements;
      *reinterpret_cast<Float4*>(panel + pair * kPanelColumns + ((chunk % 8) ^ (pair % 8)) * 8) =
          values;
    }
    fence_async_proxy();
    const int warp = thread_id() % kWarpgroupThreads / kLanes;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int pair = warp * 16 + lane_id() / 4 + 8 * r;
      const bool is_there = pair < num_pairs;
      const int local = (first_pair + pair) / group;
      rows_[r] = is_there ? source_.row(item.stream, local) : -1;
      heads_[r] = item.kv_head * group + (first_pair + pair) % group;
      if constexpr (Source::kIsMasked) {
        ranges_.rows[r] = is_there ? source_.range(item.stream, local) : KeyRange{0, 0};
      }
    }
    if constexpr (Source::kIsMasked) {
      common_ = source_.common(item.stream);
    }
    sync_sharers();
  }

  ASSAY_DEVICE void attend(const Item& item) {
    bool is_masked = false;  // of the group's slices so far
    run_m_[0] = run_m_[1] = 0;
    run_l_[0] = run_l_[1] = 0;
    for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
      TileState state;
      const bool is_all_seen = attend_slice(slice, state);
      if (slice >= item.first_lone_slice) {
        store(output_.slices, slice, state);
        continue;
      }
      const bool is_first = slice == item.first_slice || slice % kSlices == 0;
      const bool is_last = slice + 1 == item.end_slice || (slice + 1) % kSlices == 0;
      is_masked = !is_all_seen || (is_masked && !is_first);
      if (!is_first) {
        if (Source::kIsMasked && is_masked) {
          group_.template fold_before<true>(state);
        } else {
          group_.template fold_before<false>(state);
        }
      }
      if (!is_last) {
        group_.write(state);
      } else if (item.spill == ItemSpill::kRun) {
        fold_into_run(slice / (kSlices * kRunGroups), state);
      } else {
        store(output_.groups, slice / kSlices, state);
      }
    }
  }

  // True where all rows see the whole slice.
  ASSAY_DEVICE bool attend_slice(std::int32_t slice, TileState& state) {
    // Dots: k16 steps ascending over the panels of K.
    float scores[kColumns][4];
    const std::uint16_t* q = own_queries();
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      const std::uint16_t* k = next_stage();
      wgmma_fence();
      ASSAY_UNROLL
      for (int step = 0; step < 8; ++step) {
        wgmma_rows_by_rows(scores,
                           q + (2 * half + step / 4) * Shape::kQPanelElements,
                           k + step / 4 * Shape::kPanelElements,
                           step % 4,
                           half > 0 || step > 0);
      }
      wgmma_commit();
      wgmma_wait();
      give_back_stage();
    }
    std::uint32_t weights[kUnits][4];
    bool is_all_seen = true;
    if constexpr (Source::kIsMasked) {
      is_all_seen = common_.begin <= slice * kSliceKeys && common_.end >= (slice + 1) * kSliceKeys;
      if (!is_all_seen) {
        weigh<Exp, true>(scores, weights, scale_, ranges_, slice * kSliceKeys, state);
      }
    }
    if (is_all_seen) {
      weigh<Exp, false>(scores, weights, scale_, ranges_, slice * kSliceKeys, state);
    }

    // Values: k16 steps ascending over the keys, for each panel of 64 columns.
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      const std::uint16_t* v = next_stage();
      wgmma_fence();
      ASSAY_UNROLL
      for (int step = 0; step < 8; ++step) {
        if constexpr (kDim == 256) {
          wgmma_registers_by_columns(state.o + 32 * half,
                                     weights[step],
                                     v + warpgroup() * Shape::kPanelElements,
                                     step,
                                     step > 0);
        } else {
          wgmma_registers_by_columns(state.o, weights[step], v, step, step > 0);
          wgmma_registers_by_columns(
              state.o + 32, weights[step], v + Shape::kPanelElements, step, step > 0);
        }
      }
      wgmma_commit();
      wgmma_wait();
      give_back_stage();
    }
    return is_all_seen;
  }

  // The next stage, arrived.
  ASSAY_DEVICE const std::uint16_t* next_stage() {
    wait_for_phase(control_->full[slot_], wraps_ % 2);
    if constexpr (Source::kIsMasked) {
      // Rows that were copied one by one.
      fence_async_proxy();
    }
    return ring_ + slot_ * Shape::kStageElements;
  }

  ASSAY_DEVICE void give_back_stage() {
    if (lane_id() == 0) {
      arrive(control_->empty[slot_]);
    }
    if (++slot_ == num_stages_) {
      slot_ = 0;
      ++wraps_;
    }
  }

  ASSAY_DEVICE static int first_column() {
    return kDim == 256 ? kWarpgroupColumns * warpgroup() : 0;
  }

  ASSAY_DEVICE std::int64_t place_of(std::int32_t number, int r) const {
    return (std::int64_t{number} * output_.num_rows + rows_[r]) * output_.num_heads + heads_[r];
  }

  ASSAY_DEVICE float* o_of(const StateArrays& table, std::int64_t place) const {
    return table.o + place * kDim + first_column() + lane_id() % 4 * 2;
  }

  ASSAY_DEVICE void store_row(const StateArrays& table,
                              std::int64_t place,
                              int r,
                              const TileState& state) {
    if (first_column() == 0 && lane_id() % 4 == 0) {
      table.m[place] = state.m[r];
      table.l[place] = state.l[r];
    }
    float* o = o_of(table, place);
    ASSAY_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      *reinterpret_cast<Float2*>(o + kColumnKeys * j) = {state.o[element(r, 2 * j)],
                                                         state.o[element(r, 2 * j + 1)]};
    }
  }

  // Rows that saw no key stay unwritten.
  ASSAY_DEVICE bool is_stored(const TileState& state, int r) const {
    return rows_[r] >= 0 && state.l[r] != 0;
  }

  ASSAY_DEVICE void store(const StateArrays& table, std::int32_t number, const TileState& state) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (is_stored(state, r)) {
        store_row(table, place_of(number, r), r, state);
      }
    }
  }

  // The thread finds there what it stored. All loads of a row come first.
  ASSAY_DEVICE void fold_into_run(std::int32_t run, TileState& state) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (!is_stored(state, r)) {
        continue;
      }
      const std::int64_t place = place_of(run, r);
      const RowFold row = RowFold::of(run_m_[r], run_l_[r], state.m[r], state.l[r]);
      if (!row.takes_second) {
        const float* o = o_of(output_.runs, place);
        Float2 before[kColumns];
        ASSAY_UNROLL
        for (int j = 0; j < kColumns; ++j) {
          before[j] = *reinterpret_cast<const Float2*>(o + kColumnKeys * j);
        }
        ASSAY_UNROLL
        for (int index = 0; index < 2 * kColumns; ++index) {
          float& value = state.o[element(r, index)];
          value = row.factors.fold(before[index / 2].values[index % 2], value);
        }
      }
      state.m[r] = run_m_[r] = row.max(run_m_[r], state.m[r]);
      state.l[r] = run_l_[r] = row.value(run_l_[r], state.l[r]);
      store_row(output_.runs, place, r, state);
    }
  }

  const Source& source_;
  const PanelMaps& maps_;
  const StateOutput& output_;
  float scale_;
  int num_stages_;
  std::uint16_t* ring_;
  std::uint16_t* q_;
  ItemControl* control_;
  GroupState group_;
  int slot_ = 0;
  int wraps_ = 0;  // of the ring
  std::int32_t rows_[2];
  std::int32_t heads_[2];
  RowRanges ranges_;
  KeyRange common_;
  float run_m_[2];
  float run_l_[2];
};

}  // namespace assay::kernels::attention
