// The warpgroup form of attention on sm_90a (cuda_items.cuh says what is walked): 64 pairs by 128
// columns a warpgroup; scores, weights, a slice's state and its group's in registers, a run's in
// shared memory. One warp copies ahead; the others wait for stages and give them back. The bits are
// contract.h's: what a stage holds, who copies it and how items are split changes none.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// A thread's part of 64 pairs by 128 columns: rows lane / 4 and + 8 of its warp's sixteen; the
// columns of a row are 8 j + 2 (lane % 4) + c, j in 0..15, at [4 j + 2 r + c]. m and l are the same
// in the four lanes of a row. An empty row's o is -0, so that folding needs no case: -0 times a
// factor is -0, and x + -0 is x.
struct TileState {
  float m[2];
  float l[2];
  float o[64];

  ASSAY_DEVICE void clear(int r) {
    m[r] = kNoScore;
    l[r] = -0.0F;
    ASSAY_UNROLL
    for (int index = 0; index < 32; ++index) {
      o[element(r, index)] = -0.0F;
    }
  }

  // Place of the index'th of row r's 32 elements.
  static ASSAY_DEVICE constexpr int element(int r, int index) {
    return 4 * (index / 2) + 2 * r + index % 2;
  }
};

// How a tile's state takes in a later one.
struct TileFold {
  FoldFactors rows[2];

  // Also folds m and l into the later state's.
  ASSAY_DEVICE TileFold(const float (&m)[2], const float (&l)[2], TileState& later) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      rows[r] = fold_factors(m[r], later.m[r]);
      later.m[r] = rows[r].m;
      later.l[r] = rows[r].fold(l[r], later.l[r]);
    }
  }

  // Of places of o.
  ASSAY_DEVICE float value(int index, float first, float second) const {
    return rows[index / 2 % 2].fold(first, second);
  }
};

// The group's state becomes itself with a later slice's folded in.
ASSAY_DEVICE void fold_slice(TileState& group, TileState& slice) {
  const TileFold fold(group.m, group.l, slice);
  ASSAY_UNROLL
  for (int r = 0; r < 2; ++r) {
    group.m[r] = slice.m[r];
    group.l[r] = slice.l[r];
  }
  ASSAY_UNROLL
  for (int i = 0; i < 64; ++i) {
    group.o[i] = fold.value(i, group.o[i], slice.o[i]);
  }
}

// A run's state in shared memory: each thread finds there what it wrote.
struct RunState {
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

  // The state becomes what lies here with the state folded in.
  ASSAY_DEVICE void fold_before(TileState& state) const {
    const TileFold fold(m, l, state);
    ASSAY_UNROLL
    for (int j = 0; j < 16; ++j) {
      const Float4 before = o[j * kWarpgroupThreads];
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        state.o[4 * j + i] = fold.value(i, before.values[i], state.o[4 * j + i]);
      }
    }
  }
};

template <class Exp, int kDim, int kTiles, class Source>
class WarpgroupAttention {
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
    run_.o = states + warpgroup() * kStateElements + thread_id() % kWarpgroupThreads;
    std::byte* rest = reinterpret_cast<std::byte*>(states + Shape::kWarpgroups * kStateElements);
    control_ = reinterpret_cast<ItemControl*>(rest);
    halves_ = reinterpret_cast<SliceHalves*>(rest + sizeof(ItemControl));
    ranges_ = reinterpret_cast<KeyRange*>(rest + sizeof(ItemControl) + Shape::kHalvesBytes) +
              own_tile() * kWarpgroupPairs;
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
  ASSAY_DEVICE static int warpgroup() { return thread_id() / kWarpgroupThreads; }

  // Of the warpgroup: 16 pairs.
  ASSAY_DEVICE static int warp() { return thread_id() % kWarpgroupThreads / kLanes; }

  // Of the tile's 64 pairs, the thread's r-th.
  ASSAY_DEVICE static int pair_of(int r) { return warp() * 16 + lane_id() / 4 + 8 * r; }

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

  // Both warpgroups that share a tile.
  ASSAY_DEVICE static void sync_halves() { barrier_sync(kHalvesBarrier, 2 * kWarpgroupThreads); }

  // Of a stream's pair: its row among the stream's and in the output, and its query head.
  struct Place {
    int local;
    int row;
    int head;
  };

  // The item's queries, zeros where there is no pair, what each pair sees, and the places of the
  // thread's two pairs among a number's states, -1 where there is none.
  ASSAY_DEVICE void load_queries(const Item& item) {
    constexpr int kThreads = kDim == 256 ? 2 * kWarpgroupThreads : kWarpgroupThreads;
    constexpr int kChunks = kDim / 8;
    const int group = source_.num_heads_per_key();
    const int first_pair = item.tile * Shape::kPairs + own_tile() * kWarpgroupPairs;
    const int num_pairs = source_.num_rows(item.stream) * group - first_pair;
    const int first_row = source_.row(item.stream, 0);
    const auto place_of = [&](int pair) {
      const auto of = static_cast<unsigned>(pair) / static_cast<unsigned>(group);
      const int local = static_cast<int>(of);
      return Place{local, first_row + local, item.kv_head * group + pair - local * group};
    };
    // No step of the item before still reads.
    sync_sharers();
    ASSAY_NO_UNROLL
    for (int index = thread_id() % kThreads; index < kWarpgroupPairs * kChunks; index += kThreads) {
      const int pair = index / kChunks;
      const int chunk = index % kChunks;
      const bool is_there = pair < num_pairs;
      const Place place = place_of(first_pair + (is_there ? pair : 0));
      std::uint16_t* panel = own_queries() + chunk / 8 * Shape::kQPanelElements;
      copy_async(reinterpret_cast<std::byte*>(panel + pair * kPanelColumns +
                                              ((chunk % 8) ^ (pair % 8)) * 8),
                 source_.q_row(place.row, place.head) + 8 * chunk,
                 is_there);
    }
    commit_copies();
    has_pairs_ = warp() * 16 < num_pairs;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      const Place place = place_of(first_pair + pair_of(r));
      const bool is_there = pair_of(r) < num_pairs;
      places_[r] = is_there ? place.row * output_.num_heads + place.head : -1;
      if constexpr (Source::kIsMasked) {
        if (lane_id() % 4 == 0) {
          ranges_[pair_of(r)] = is_there ? source_.range(item.stream, place.local) : KeyRange{0, 0};
        }
      }
    }
    wait_for_copies<0>();
    fence_async_proxy();
    sync_sharers();
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
      if (!has_pairs_) {
        continue;
      }
      if (slice >= item.first_lone_slice) {
        store(output_.slices, slice, state);
        continue;
      }
      fold_slice(group, state);
      if (slice + 1 != end_in_groups && (slice + 1) % kSlices != 0) {
        continue;
      }
      if (item.spill != ItemSpill::kRun) {
        store(output_.groups, slice / kSlices, group);
      } else {
        if (has_run) {
          run_.fold_before(group);
        }
        has_run = true;
        if (slice + 1 == end_in_groups) {
          store(output_.runs, slice / (kSlices * kRunGroups), group);
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
    if (has_pairs_) {
      if constexpr (Source::kIsMasked) {
        if (is_masked) {
          mask_scores(scores, {ranges_[pair_of(0)], ranges_[pair_of(1)]}, first_key);
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
    multiply_keys(scores, kOwnKeys * warpgroup());
    if (has_pairs_) {
      if constexpr (Source::kIsMasked) {
        if (is_masked) {
          mask_scores(scores,
                      {ranges_[pair_of(0)], ranges_[pair_of(1)]},
                      first_key + kOwnKeys * warpgroup());
        }
      }
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        state.m[r] = scale_scores(scores, r, scale_);
        if (lane_id() % 4 == 0) {
          halves_->maxima[warpgroup()][pair_of(r)] = state.m[r];
        }
      }
    }
    sync_halves();
    if (has_pairs_) {
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        state.m[r] = larger_of(state.m[r], halves_->maxima[1 - warpgroup()][pair_of(r)]);
        weigh_scores<Exp>(scores, r, state.m[r]);
        store_weights(scores, r);
        if (warpgroup() == 0) {
          float sums[2] = {0.0F, 0.0F};
          add_weights(scores, r, sums);
          *reinterpret_cast<Float2*>(halves_->sums[pair_of(r)] + lane_id() % 4 * 2) = {sums[0],
                                                                                       sums[1]};
        }
        state.l[r] = state.m[r] == kNoScore || state.m[r] == -kNoScore ? 0.0F : 1.0F;
      }
      fence_async_proxy();
    }
    sync_halves();

    // Values: k16 steps ascending over the keys, for each panel of 64 columns.
    int slots[Shape::kHalfStages];
    ASSAY_UNROLL
    for (int half = 0; half < Shape::kHalfStages; ++half) {
      slots[half] = next_slot();
      const std::uint16_t* v = stage(slots[half]) + warpgroup() * Shape::kPanelElements;
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
    if (has_pairs_ && warpgroup() == 1) {
      ASSAY_UNROLL
      for (int r = 0; r < 2; ++r) {
        const Float2 before =
            *reinterpret_cast<const Float2*>(halves_->sums[pair_of(r)] + lane_id() % 4 * 2);
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
    const int pair = pair_of(r);
    std::uint16_t* row = weights_ + warpgroup() * Shape::kQPanelElements + pair * kPanelColumns;
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

  ASSAY_DEVICE static int first_column() {
    return kDim == 256 ? kWarpgroupColumns * warpgroup() : 0;
  }

  ASSAY_DEVICE std::int64_t place_of(std::int32_t number, int r) const {
    return std::int64_t{number} * output_.num_rows * output_.num_heads + places_[r];
  }

  ASSAY_DEVICE float* o_of(const StateArrays& table, std::int64_t place) const {
    return table.o + place * kDim + first_column() + lane_id() % 4 * 2;
  }

  ASSAY_DEVICE void store_row(const StateArrays& table,
                              std::int64_t place,
                              int r,
                              const TileState& state) {
    if (lane_id() % 4 == 0 && (kDim == 128 || warpgroup() == 1)) {
      table.m[place] = state.m[r];
      table.l[place] = state.l[r];
    }
    float* o = o_of(table, place);
    ASSAY_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      *reinterpret_cast<Float2*>(o + kColumnKeys * j) = {state.o[TileState::element(r, 2 * j)],
                                                         state.o[TileState::element(r, 2 * j + 1)]};
    }
  }

  // Rows that saw no key stay unwritten.
  ASSAY_DEVICE bool is_stored(const TileState& state, int r) const {
    return places_[r] >= 0 && state.l[r] != 0;
  }

  ASSAY_DEVICE void store(const StateArrays& table, std::int32_t number, const TileState& state) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (is_stored(state, r)) {
        store_row(table, place_of(number, r), r, state);
      }
    }
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
  bool has_pairs_ = false;  // the warp's sixteen, any
  std::int32_t places_[2];
};

}  // namespace assay::kernels::attention
