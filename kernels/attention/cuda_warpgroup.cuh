// The warpgroup form of attention on sm_90a (cuda_items.cuh says what is walked): 64 pairs by 128
// columns a warpgroup; scores, weights, a slice's state and its group's in registers, a run's in
// shared memory. One warp copies ahead; the others wait for stages and give them back. The bits are
// contract.h's: what a stage holds, who copies it and how items are split changes none.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_tile_pairs.cuh"
#include "kernels/attention/cuda_tile_state.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstdint>

namespace assay::kernels::attention {

template <class Exp, int kDim, int kTiles, class Source>
class WarpgroupAttention {
  using Thread = TileThread<kDim>;

 public:
  using Shape = WarpgroupShape<kDim, kTiles>;

  // `shared` has Shape::shared_bytes(num_stages), aligned as panels are.
  ASSAY_DEVICE WarpgroupAttention(const Source& source,
                                  const PanelMaps& maps,
                                  const StateOutput& output,
                                  float scale,
                                  std::byte* shared,
                                  int num_stages)
      : source_(source), maps_(maps), output_(output), scale_(scale), place_(num_stages) {
    ring_ = reinterpret_cast<std::uint16_t*>(shared);
    q_ = ring_ + num_stages * Shape::kStageElements;
    weights_ = q_ + Shape::kQElements;
    auto* states = reinterpret_cast<Float4*>(weights_ + Shape::kWeightElements);
    constexpr int kStateElements = kWarpgroupStateBytes / static_cast<int>(sizeof(Float4));
    run_.o = states + Thread::warpgroup() * kStateElements + thread_id() % kWarpgroupThreads;
    std::byte* rest = reinterpret_cast<std::byte*>(states + Shape::kWarpgroups * kStateElements);
    control_ = reinterpret_cast<ItemControl*>(rest);
    halves_ = reinterpret_cast<SliceHalves*>(rest + sizeof(ItemControl));
    ranges_ = reinterpret_cast<KeyRange*>(rest + sizeof(ItemControl) + Shape::kHalvesBytes) +
              Thread::own_tile() * kWarpgroupPairs;
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
        [this](const Item& item) { pairs_.load(source_, output_, item, own_queries(), ranges_); },
        [this](const Item& item) { attend(item); });
  }

 private:
  ASSAY_DEVICE std::uint16_t* own_queries() const {
    return q_ + Thread::own_tile() * Shape::kPanels * Shape::kQPanelElements;
  }

  ASSAY_DEVICE void attend(const Item& item) {
    TileState group;
    group.clear(0);
    group.clear(1);
    bool has_run = false;
    const std::int32_t end_in_groups = smaller_place(item.end_slice, item.first_lone_slice);
    for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
      TileState state;
      attend_slice(item, slice, state);
      if (!pairs_.has_any()) {
        continue;
      }
      if (slice >= item.first_lone_slice) {
        pairs_.store(output_, output_.slices, slice, state);
        continue;
      }
      fold_slice(group, state);
      if (slice + 1 != end_in_groups && (slice + 1) % kSlices != 0) {
        continue;
      }
      if (item.spill != ItemSpill::kRun) {
        pairs_.store(output_, output_.groups, slice / kSlices, group);
      } else {
        if (has_run) {
          run_.fold_before(group);
        }
        has_run = true;
        if (slice + 1 == end_in_groups) {
          pairs_.store(output_, output_.runs, slice / (kSlices * kRunGroups), group);
        } else {
          run_.write(group);
        }
      }
      group.clear(0);
      group.clear(1);
    }
  }

  ASSAY_DEVICE void attend_slice(const Item& item, std::int32_t slice, TileState& state) {
    const std::int32_t first_key = slice * kSliceKeys;
    bool is_masked = false;
    if constexpr (Source::kIsMasked) {
      is_masked = item.common.begin > first_key || item.common.end < first_key + kSliceKeys;
    }
    if constexpr (kDim == 256) {
      attend_half_keys(first_key, is_masked, state);
    } else {
      attend_all_keys(first_key, is_masked, state);
    }
    if (Source::kIsMasked && is_masked) {
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        if (state.l[r] == 0) {
          state.clear(r);
        }
      }
    }
  }

  ASSAY_DEVICE void attend_all_keys(std::int32_t first_key, bool is_masked, TileState& state) {
    static_assert(kDim == 256 || Shape::kHalfStages == 1);
    float scores[kColumns][4];
    multiply_keys(scores, 0);
    std::uint32_t weights[kUnits][4];
    if (pairs_.has_any()) {
      if constexpr (Source::kIsMasked) {
        if (is_masked) {
          mask_scores(
              scores, {ranges_[Thread::pair_of(0)], ranges_[Thread::pair_of(1)]}, first_key);
        }
      }
      weigh<Exp>(scores, weights, scale_, state);
    }

    // Values: k16 steps ascending over the keys, for each panel of 64 columns.
    const int slots[1] = {next_slot()};
    const std::uint16_t* v = stage(slots[0]);
    wgmma_fence();
    ASSAY_UNROLL
    for (int step = 0; step < 8; ++step) {
      ASSAY_UNROLL
      for (int panel = 0; panel < 2; ++panel) {
        wgmma_registers_by_columns(
            state.o + 32 * panel, weights[step], v + panel * Shape::kPanelElements, step, step > 0);
      }
    }
    wgmma_commit();
    give_back_after_steps(*control_, slots);
  }

  // The warpgroup weighs keys 64 warpgroup() .. of the slice; of l, the second one holds the value
  // and the first one only whether there is any.
  ASSAY_DEVICE void attend_half_keys(std::int32_t first_key, bool is_masked, TileState& state) {
    constexpr int kOwnKeys = kSliceKeys / 2;
    constexpr int kOwnColumns = kColumns / 2;
    float scores[kOwnColumns][4];
    multiply_keys(scores, kOwnKeys * Thread::warpgroup());
    if (pairs_.has_any()) {
      if constexpr (Source::kIsMasked) {
        if (is_masked) {
          mask_scores(scores,
                      {ranges_[Thread::pair_of(0)], ranges_[Thread::pair_of(1)]},
                      first_key + kOwnKeys * Thread::warpgroup());
        }
      }
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        state.m[r] = scale_scores(scores, r, scale_);
        if (lane_id() % 4 == 0) {
          halves_->maxima[Thread::warpgroup()][Thread::pair_of(r)] = state.m[r];
        }
      }
    }
    Thread::sync_halves();
    if (pairs_.has_any()) {
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        state.m[r] =
            larger_of(state.m[r], halves_->maxima[1 - Thread::warpgroup()][Thread::pair_of(r)]);
        weigh_scores<Exp>(scores, r, state.m[r]);
        store_weights(scores, r);
        if (Thread::warpgroup() == 0) {
          float sums[2] = {0.0F, 0.0F};
          add_weights(scores, r, sums);
          *reinterpret_cast<Float2*>(halves_->sums[Thread::pair_of(r)] + lane_id() % 4 * 2) = {
              sums[0], sums[1]};
        }
        state.l[r] = state.m[r] == kNoScore || state.m[r] == -kNoScore ? 0.0F : 1.0F;
      }
      fence_async_proxy();
    }
    Thread::sync_halves();

    // Values: k16 steps ascending over the keys, for each panel of 64 columns.
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
        wgmma_rows_by_columns(
            state.o + 32 * half, weights_ + step / 4 * Shape::kQPanelElements, v, step, step > 0);
      }
      wgmma_commit();
    }
    if (pairs_.has_any() && Thread::warpgroup() == 1) {
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        const Float2 before =
            *reinterpret_cast<const Float2*>(halves_->sums[Thread::pair_of(r)] + lane_id() % 4 * 2);
        float sums[2] = {before.values[0], before.values[1]};
        add_weights(scores, r, sums);
        state.l[r] = meet_sums(sums);
      }
    }
    give_back_after_steps(*control_, slots);
  }

  // Dots with the keys from row `first_row` of their panels on: k16 steps ascending over the
  // panels.
  template <int kCount>
  ASSAY_DEVICE void multiply_keys(float (&scores)[kCount][4], int first_row) {
    int slots[Shape::kHalfStages];
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      slots[half] = next_slot();
      const std::uint16_t* k = stage(slots[half]) + first_row * kPanelColumns;
      if (half == 0) {
        wgmma_fence();
      }
      ASSAY_UNROLL
      for (int step = 0; step < 8; ++step) {
        wgmma_rows_by_rows(scores,
                           own_queries() + (2 * half + step / 4) * Shape::kQPanelElements,
                           k + step / 4 * Shape::kPanelElements,
                           step % 4,
                           half > 0 || step > 0);
      }
      wgmma_commit();
    }
    give_back_after_steps(*control_, slots);
  }

  // The thread's weights of its r-th pair, where both warpgroups multiply with them.
  ASSAY_DEVICE void store_weights(const float (&weights)[kColumns / 2][4], int r) {
    const int pair = Thread::pair_of(r);
    std::uint16_t* row =
        weights_ + Thread::warpgroup() * Shape::kQPanelElements + pair * kPanelColumns;
    ASSAY_UNROLL
    for (int column = 0; column < kColumns / 2; ++column) {
      *reinterpret_cast<std::uint32_t*>(row + (column ^ (pair % 8)) * 8 + lane_id() % 4 * 2) =
          pack_bf16(weights[column][2 * r], weights[column][2 * r + 1]);
    }
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
  SliceHalves* halves_;
  KeyRange* ranges_;  // of the tile's pairs
  RunState run_;
  TilePairs<Shape> pairs_;
};

}  // namespace assay::kernels::attention
