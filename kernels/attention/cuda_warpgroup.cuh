// The warpgroup form of attention on sm_90a (cuda_items.cuh says what is walked): 64 pairs by 128
// columns a warpgroup; scores, weights and a group's state in registers, a run's state where it is
// stored. One barrier a stage; a stage is refilled after the barrier behind its last reader. The
// bits are contract.h's: what a stage holds, who copies it and how items are split changes none.
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

// Folds `next` into `state`. Without masks no row is empty but in a state that nothing was folded
// into yet.
template <bool kIsMasked>
ASSAY_DEVICE void fold_tile(TileState& state, const TileState& next) {
  if (!kIsMasked && state.l[0] == 0) {
    state = next;
    return;
  }
  ASSAY_UNROLL
  for (int r = 0; r < 2; ++r) {
    if constexpr (kIsMasked) {
      const RowFold row = RowFold::of(state.m[r], state.l[r], next.m[r], next.l[r]);
      state.m[r] = row.max(state.m[r], next.m[r]);
      state.l[r] = row.value(state.l[r], next.l[r]);
      ASSAY_UNROLL
      for (int index = 0; index < 32; ++index) {
        float& value = state.o[element(r, index)];
        value = row.value(value, next.o[element(r, index)]);
      }
    } else {
      const FoldFactors factors = fold_factors(state.m[r], next.m[r]);
      state.m[r] = factors.m;
      state.l[r] = factors.fold(state.l[r], next.l[r]);
      ASSAY_UNROLL
      for (int index = 0; index < 32; ++index) {
        float& value = state.o[element(r, index)];
        value = factors.fold(value, next.o[element(r, index)]);
      }
    }
  }
}

template <class Exp, int kDim, int kTiles, class Source>
class WarpgroupAttention {
  using Shape = WarpgroupShape<kDim, kTiles>;

 public:
  // `shared` has Shape::shared_bytes(num_stages).
  ASSAY_DEVICE WarpgroupAttention(const Source& source,
                                  const StateOutput& output,
                                  float scale,
                                  std::int32_t num_blocks,
                                  std::byte* shared,
                                  int num_stages)
      : source_(source),
        output_(output),
        scale_(scale),
        num_blocks_(num_blocks),
        num_stages_(num_stages) {
    const auto address = reinterpret_cast<std::uintptr_t>(shared);
    const std::uintptr_t past = address % kPanelAlignment;
    ring_ = reinterpret_cast<std::uint16_t*>(shared + (past == 0 ? 0 : kPanelAlignment - past));
    q_ = ring_ + static_cast<std::int64_t>(num_stages) * Shape::kStageElements;
    unit_ends_ = reinterpret_cast<std::int32_t*>(q_ + 2 * Shape::kQElements);
  }

  ASSAY_DEVICE void run(ItemSpill spill) {
    const std::int32_t num_units = count_units();
    const ItemPlan plan = plan_items(num_units, num_blocks_, spill);
    ItemWalk<Source> walk(source_,
                          unit_ends_,
                          plan,
                          Shape::kPairs,
                          static_cast<std::int32_t>(block_id()),
                          num_blocks_);
    StageLoader<kDim, kTiles, Source> loader(source_, walk, ring_, num_stages_, q_);
    loader.fill(0, 0);
    Item item;
    for (int number = 0; walk.next(item); ++number) {
      attend(item, number, loader);
    }
  }

 private:
  ASSAY_DEVICE int warpgroup() const { return thread_id() / kWarpgroupThreads; }

  // Fills unit_ends_ and returns the number of units.
  ASSAY_DEVICE std::int32_t count_units() {
    const std::int32_t num_streams = source_.num_streams();
    std::int32_t* units = unit_ends_ + kMostItemStreams;
    for (std::int32_t stream = thread_id(); stream < num_streams; stream += Shape::kThreads) {
      units[stream] = num_units_of(source_, stream, Shape::kPairs);
    }
    sync_block();
    for (std::int32_t stream = thread_id(); stream < num_streams; stream += Shape::kThreads) {
      std::int32_t end = 0;
      for (std::int32_t before = 0; before <= stream; ++before) {
        end += units[before];
      }
      unit_ends_[stream] = end;
    }
    sync_block();
    return num_streams == 0 ? 0 : unit_ends_[num_streams - 1];
  }

  ASSAY_DEVICE void attend(const Item& item,
                           int number,
                           StageLoader<kDim, kTiles, Source>& loader) {
    set_rows(item);
    TileState group = {};
    run_m_[0] = run_m_[1] = 0;
    run_l_[0] = run_l_[1] = 0;
    for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
      TileState state;
      attend_slice(slice, number, loader, state);
      fold_tile<Source::kIsMasked>(group, state);
      if ((slice + 1) % kSlices == 0 || slice + 1 == item.end_slice) {
        end_group(item, slice, group);
        group.l[0] = group.l[1] = 0;
      }
    }
  }

  // The thread's two pairs: their rows and heads in the output, -1 where there is none, and what
  // they see.
  ASSAY_DEVICE void set_rows(const Item& item) {
    const int group = source_.num_heads_per_key();
    const int num_pairs = source_.num_rows(item.stream) * group;
    const int tile = kDim == 256 ? 0 : warpgroup();
    const int warp = thread_id() % kWarpgroupThreads / 32;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int pair =
          item.tile * Shape::kPairs + tile * kWarpgroupPairs + warp * 16 + lane_id() / 4 + 8 * r;
      const bool is_there = pair < num_pairs;
      rows_[r] = is_there ? source_.row(item.stream, pair / group) : -1;
      heads_[r] = item.kv_head * group + pair % group;
      if constexpr (Source::kIsMasked) {
        ranges_.rows[r] = is_there ? source_.range(item.stream, pair / group) : KeyRange{0, 0};
      }
    }
  }

  ASSAY_DEVICE void attend_slice(std::int32_t slice,
                                 int number,
                                 StageLoader<kDim, kTiles, Source>& loader,
                                 TileState& state) {
    // Dots: k16 steps ascending over the panels of K.
    float scores[kColumns][4];
    const std::uint16_t* q =
        q_ + number % 2 * Shape::kQElements +
        (kDim == 256 ? 0 : warpgroup()) * Shape::kPanels * Shape::kQPanelElements;
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      const std::uint16_t* k = next_stage(number, loader);
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
    }
    std::uint32_t weights[kUnits][4];
    weigh<Exp, Source::kIsMasked>(scores, weights, scale_, ranges_, slice * kSliceKeys, state);

    // Values: k16 steps ascending over the keys, for each panel of 64 columns.
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      const std::uint16_t* v = next_stage(number, loader);
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
    }
  }

  // The next stage, arrived; the one before it is refilled.
  ASSAY_DEVICE const std::uint16_t* next_stage(int number,
                                               StageLoader<kDim, kTiles, Source>& loader) {
    loader.wait_for(computed_);
    fence_async_proxy();
    sync_block();
    loader.fill(computed_, number);
    const std::uint16_t* stage =
        ring_ + static_cast<std::int64_t>(computed_ % num_stages_) * Shape::kStageElements;
    ++computed_;
    return stage;
  }

  ASSAY_DEVICE int first_column() const {
    return kDim == 256 ? kWarpgroupColumns * warpgroup() : 0;
  }

  // Stores the state of the group or slice, or folds it into the run's: the thread finds there what
  // it stored.
  ASSAY_DEVICE void end_group(const Item& item, std::int32_t slice, const TileState& state) {
    const bool is_run = item.spill == ItemSpill::kRun;
    const bool is_group = item.spill == ItemSpill::kGroup;
    const StateArrays table = {is_run     ? output_.runs.m
                               : is_group ? output_.groups.m
                                          : output_.slices.m,
                               is_run     ? output_.runs.l
                               : is_group ? output_.groups.l
                                          : output_.slices.l,
                               is_run     ? output_.runs.o
                               : is_group ? output_.groups.o
                                          : output_.slices.o};
    const std::int32_t number = is_run     ? slice / (kSlices * kRunGroups)
                                : is_group ? slice / kSlices
                                           : slice;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (rows_[r] < 0 || state.l[r] == 0) {
        continue;
      }
      const std::int64_t place =
          (std::int64_t{number} * output_.num_rows + rows_[r]) * output_.num_heads + heads_[r];
      const RowFold row = RowFold::of(run_m_[r], run_l_[r], state.m[r], state.l[r]);
      const float m = row.max(run_m_[r], state.m[r]);
      const float l = row.value(run_l_[r], state.l[r]);
      if (first_column() == 0 && lane_id() % 4 == 0) {
        table.m[place] = m;
        table.l[place] = l;
      }
      float* o = table.o + place * kDim + first_column() + lane_id() % 4 * 2;
      if (row.takes_second) {
        ASSAY_UNROLL
        for (int j = 0; j < 16; ++j) {
          *reinterpret_cast<Float2*>(o + kColumnKeys * j) = {state.o[element(r, 2 * j)],
                                                             state.o[element(r, 2 * j + 1)]};
        }
      } else {
        ASSAY_UNROLL
        for (int j = 0; j < 16; ++j) {
          const Float2 before = *reinterpret_cast<const Float2*>(o + kColumnKeys * j);
          *reinterpret_cast<Float2*>(o + kColumnKeys * j) = {
              row.factors.fold(before.values[0], state.o[element(r, 2 * j)]),
              row.factors.fold(before.values[1], state.o[element(r, 2 * j + 1)])};
        }
      }
      // Only a run goes on from what it has.
      run_m_[r] = is_run ? m : 0;
      run_l_[r] = is_run ? l : 0;
    }
  }

  const Source& source_;
  const StateOutput& output_;
  float scale_;
  std::int32_t num_blocks_;
  int num_stages_;
  std::uint16_t* ring_;
  std::uint16_t* q_;
  std::int32_t* unit_ends_;
  int computed_ = 0;
  std::int32_t rows_[2];
  std::int32_t heads_[2];
  RowRanges ranges_;
  float run_m_[2];
  float run_l_[2];
};

}  // namespace assay::kernels::attention
