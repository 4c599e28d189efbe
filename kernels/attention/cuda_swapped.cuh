// The warpgroup form of attention on sm_90a for few pairs (cuda_items.cuh says what is walked),
// with swapped operands: keys, then columns of the values, are the 64 rows of a step, and 16 pairs
// its columns. Two warpgroups share them: each weighs half of a slice's keys and holds half of the
// columns. All states live in registers; the weights go through shared memory. The bits are
// contract.h's.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_swapped_shape.cuh"
#include "kernels/attention/cuda_swapped_state.cuh"
#include "kernels/attention/cuda_swapped_weights.cuh"
#include "kernels/attention/cuda_warpgroup.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

template <class Exp, int kDim, class Source>
class SwappedAttention {
  using Exchange = typename SwappedShape<kDim>::Exchange;
  using State = SwappedState<kDim>;
  using Thread = SwappedThread;
  using Weights = SwappedWeights<Exp, kDim>;

  static constexpr int kPairs = SwappedShape<kDim>::kPairs;
  static constexpr int kEights = SwappedShape<kDim>::kEights;

 public:
  using Shape = SwappedShape<kDim>;

  // `shared` has Shape::shared_bytes(num_stages), aligned as panels are.
  ASSAY_DEVICE SwappedAttention(const Source& source,
                                const PanelMaps& maps,
                                const StateOutput& output,
                                float scale,
                                std::byte* shared,
                                int num_stages)
      : source_(source), maps_(maps), output_(output), scale_(scale), place_(num_stages) {
    ring_ = reinterpret_cast<std::uint16_t*>(shared);
    q_ = ring_ + num_stages * Shape::kStageElements;
    weights_ = q_ + Shape::kQElements;
    control_ = reinterpret_cast<ItemControl*>(weights_ + Shape::kWeightElements);
    exchange_ = reinterpret_cast<Exchange*>(control_ + 1);
  }

  // All threads of the block.
  ASSAY_DEVICE void run(const ItemPlan& plan, const BlockOfItems& block) {
    init_control<Shape>(*control_);
    if (thread_id() >= Shape::kConsumers) {
      copy_items<Shape>(source_, maps_, plan, block, ring_, place_.num_stages(), *control_);
      return;
    }
    compute_items<Shape>(
        *control_,
        [this](const Item& item) { load_queries(item); },
        [this](const Item& item) { attend(item); });
  }

 private:
  // The item's queries, zeros where there is no pair, what each pair sees and where it is stored.
  ASSAY_DEVICE void load_queries(const Item& item) {
    constexpr int kChunks = kDim / 8;
    const int group = source_.num_heads_per_key();
    const int first_pair = item.tile * kPairs;
    const int num_pairs = source_.num_rows(item.stream) * group - first_pair;
    // No step of the item before still reads.
    Thread::sync_halves();
    const int first_row = source_.row(item.stream, 0);
    const int first_head = item.kv_head * group;
    ASSAY_UNROLL
    for (int i = 0; i < kPairs * kChunks / Shape::kConsumers; ++i) {
      const int index = i * Shape::kConsumers + thread_id();
      const int pair = index / kChunks;
      const int chunk = index % kChunks;
      const bool is_there = pair < num_pairs;
      const int from = first_pair + (is_there ? pair : 0);
      std::uint16_t* panel = q_ + chunk / 8 * Shape::kPairPanelElements;
      copy_async(reinterpret_cast<std::byte*>(panel + pair * kPanelColumns +
                                              ((chunk % 8) ^ (pair % 8)) * 8),
                 source_.q_row(first_row + from / group, first_head + from % group) + 8 * chunk,
                 is_there);
    }
    commit_copies();
    if (thread_id() < kPairs) {
      const int pair = first_pair + thread_id();
      const bool is_there = thread_id() < num_pairs;
      const int row = first_row + pair / group;
      const int head = first_head + pair % group;
      exchange_->places[thread_id()] = is_there ? row * output_.num_heads + head : -1;
      if constexpr (Source::kIsMasked) {
        exchange_->ranges[thread_id()] =
            is_there ? source_.range(item.stream, pair / group) : KeyRange{0, 0};
      }
    }
    wait_for_copies<0>();
    fence_async_proxy();
    Thread::sync_halves();
  }

  ASSAY_DEVICE void attend(const Item& item) {
    State group;
    State run;
    group.clear();
    run.clear();
    const std::int32_t end_in_groups = smaller_place(item.end_slice, item.first_lone_slice);
    for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
      State own;
      attend_slice(item, slice, own);
      if (slice >= item.first_lone_slice) {
        own.store(output_, output_.slices, slice, *exchange_);
        continue;
      }
      group.fold(own);
      if (slice + 1 != end_in_groups && (slice + 1) % kSlices != 0) {
        continue;
      }
      if (item.spill != ItemSpill::kRun) {
        group.store(output_, output_.groups, slice / kSlices, *exchange_);
      } else {
        run.fold(group);
        if (slice + 1 == end_in_groups) {
          run.store(output_, output_.runs, slice / kRunSlices, *exchange_);
        }
      }
      group.clear();
    }
  }

  ASSAY_DEVICE void attend_slice(const Item& item, std::int32_t slice, State& own) {
    const std::int32_t first_key = slice * kSliceKeys;
    bool is_masked = false;
    if constexpr (Source::kIsMasked) {
      is_masked = item.common.begin > first_key || item.common.end < first_key + kSliceKeys;
    }
    float scores[kEights][4];
    multiply_keys(scores);
    if (Source::kIsMasked && is_masked) {
      Weights::mask(scores, *exchange_, first_key + 64 * Thread::warpgroup());
    }
    Weights::scale_scores(scores, scale_, *exchange_);
    Thread::sync_halves();
    Weights::take_maxima(own, *exchange_);
    Weights::weigh(scores, own.columns, weights_, *exchange_);
    fence_async_proxy();
    Thread::sync_halves();
    multiply_values(own);
    if (Source::kIsMasked && is_masked) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        ASSAY_UNROLL
        for (int c = 0; c < 2; ++c) {
          if (own.columns.m[j][c] == kNoScore) {
            own.columns.clear(j, c);
          }
        }
      }
    }
  }

  // Dots of the warpgroup's half of the keys: k16 steps ascending over the panels.
  ASSAY_DEVICE void multiply_keys(float (&scores)[kEights][4]) {
    int slots[Shape::kHalfStages];
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      slots[half] = next_slot();
      const std::uint16_t* k =
          stage(slots[half]) + kWarpgroupPairs * kPanelColumns * Thread::warpgroup();
      if (half == 0) {
        wgmma_fence();
      }
      ASSAY_UNROLL
      for (int step = 0; step < 8; ++step) {
        wgmma_rows_by_rows(scores,
                           k + step / 4 * Shape::kPanelElements,
                           q_ + (2 * half + step / 4) * Shape::kPairPanelElements,
                           step % 4,
                           half > 0 || step > 0);
      }
      wgmma_commit();
    }
    give_back_after_steps(*control_, slots);
  }

  // k16 steps ascending over the keys, for each tile of 64 columns; meanwhile the sums of weights.
  ASSAY_DEVICE void multiply_values(State& own) {
    int slots[Shape::kHalfStages];
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      slots[half] = next_slot();
      const std::uint16_t* v = stage(slots[half]) + Thread::warpgroup() * Shape::kPanelElements;
      if (half == 0) {
        wgmma_fence();
      }
      ASSAY_UNROLL
      for (int step = 0; step < 8; ++step) {
        wgmma_columns_by_rows(own.columns.o[half],
                              v,
                              weights_ + step / 4 * Shape::kPairPanelElements,
                              step,
                              step > 0);
      }
      wgmma_commit();
    }
    if (Thread::has_sum()) {
      own.sum.l = Weights::sum_of_weights(*exchange_);
    }
    give_back_after_steps(*control_, slots);
  }

  // The next stage's slot, when it has arrived.
  ASSAY_DEVICE int next_slot() { return place_.template next<Source::kIsMasked>(*control_); }

  ASSAY_DEVICE const std::uint16_t* stage(int slot) const {
    return ring_ + slot * Shape::kStageElements;
  }

  const Source& source_;
  const PanelMaps& maps_;
  const StateOutput& output_;
  float scale_;
  StagePlace place_;
  std::uint16_t* ring_;
  std::uint16_t* q_;
  std::uint16_t* weights_;
  ItemControl* control_;
  Exchange* exchange_;
};

// The form for that many pairs in a block.
template <class Exp, int kDim, int kPairs, class Source>
struct ItemAttentionOf {
  using Type = WarpgroupAttention<Exp, kDim, kPairs / kWarpgroupPairs, Source>;
};

template <class Exp, int kDim, class Source>
struct ItemAttentionOf<Exp, kDim, kTilePairs, Source> {
  using Type = SwappedAttention<Exp, kDim, Source>;
};

template <class Exp, int kDim, int kPairs, class Source>
using ItemAttention = typename ItemAttentionOf<Exp, kDim, kPairs, Source>::Type;

}  // namespace assay::kernels::attention
