// The warpgroup form of attention on sm_90a for few pairs (cuda_items.cuh says what is walked),
// with swapped operands: keys, then columns of the values, are the 64 rows of a step, and 16 pairs
// its columns. Two warpgroups share them: each weighs half of a slice's keys and holds half of the
// columns. All states live in registers; the weights go through shared memory. The bits are
// contract.h's.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_warpgroup.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

template <int kDimOf>
struct SwappedShape {
  static_assert(kDimOf == 128 || kDimOf == 256, "two warpgroups hold 64 or 128 columns each");

  static constexpr int kDim = kDimOf;
  static constexpr int kPairs = kTilePairs;
  static constexpr int kWarpgroups = 2;
  static constexpr int kConsumers = kWarpgroups * kWarpgroupThreads;
  static constexpr int kThreads = kConsumers + kWarpgroupThreads;
  static constexpr int kBlocksPerSm = 1;
  static constexpr int kCopyRegisters = 40;
  static constexpr int kComputeRegisters = 232;
  static constexpr int kPanels = kDim / kPanelColumns;
  static constexpr int kHalfStages = kPanels / 2;
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kPairPanelElements = kPairs * kPanelColumns;
  static constexpr int kQElements = kPanels * kPairPanelElements;
  static constexpr int kWeightElements = 2 * kPairPanelElements;
  static constexpr int kWarps = kConsumers / kLanes;
  static constexpr int kRowFloats = kPairs + 4;  // of unrounded weights: eight rows in all banks

  // Behind the ring, the queries and the weights.
  struct Exchange {
    float maxima[kWarps][kPairs];
    float weights[kSliceKeys][kRowFloats];
    KeyRange ranges[kPairs];
    std::int32_t places[kPairs];  // among a number's states, -1 where there is no pair
  };

  static constexpr std::int64_t shared_bytes(int num_stages) {
    return 2 * (std::int64_t{num_stages} * kStageElements + std::int64_t{kQElements} +
                std::int64_t{kWeightElements}) +
           static_cast<std::int64_t>(sizeof(ItemControl) + sizeof(Exchange));
  }
};

template <class Exp, int kDim, class Source>
class SwappedAttention {
  using Exchange = typename SwappedShape<kDim>::Exchange;

  static constexpr int kPairs = SwappedShape<kDim>::kPairs;
  static constexpr int kEights = kPairs / 8;  // of pairs
  static constexpr int kRows = kDim / 128;    // tiles of 64 columns of the values

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
  // A thread's part: columns lane / 4 + 8 r of the warp's sixteen of each tile of 64, pairs 8 j +
  // 2 (lane % 4) + c, at o[tile][j][2 r + c]. An empty pair's o is -0: see TileState.
  struct State {
    float m[kEights][2];
    float o[kRows][kEights][4];

    ASSAY_DEVICE void clear(int j, int c) {
      m[j][c] = kNoScore;
      ASSAY_UNROLL
      for (int row = 0; row < kRows; ++row) {
        o[row][j][c] = o[row][j][2 + c] = -0.0F;
      }
    }

    ASSAY_DEVICE void clear() {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        clear(j, 0);
        clear(j, 1);
      }
    }

    ASSAY_DEVICE void fold(const State& later) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        ASSAY_UNROLL
        for (int c = 0; c < 2; ++c) {
          const FoldFactors factors = fold_factors(m[j][c], later.m[j][c]);
          m[j][c] = factors.m;
          ASSAY_UNROLL
          for (int row = 0; row < kRows; ++row) {
            ASSAY_UNROLL
            for (int r = 0; r < 2; ++r) {
              float& value = o[row][j][2 * r + c];
              value = factors.fold(value, later.o[row][j][2 * r + c]);
            }
          }
        }
      }
    }
  };

  // Of pair thread / 8, the same in its eight threads, where there is one.
  struct Sum {
    float m = kNoScore;
    float l = 0;

    ASSAY_DEVICE void fold(const Sum& later) {
      const FoldFactors factors = fold_factors(m, later.m);
      m = factors.m;
      l = factors.fold(l, later.l);
    }
  };

  struct Both {
    State state;
    Sum sum;

    ASSAY_DEVICE void clear() {
      state.clear();
      sum = {};
    }

    ASSAY_DEVICE void fold(const Both& later) {
      state.fold(later.state);
      sum.fold(later.sum);
    }
  };

  ASSAY_DEVICE static int warpgroup() { return thread_id() / kWarpgroupThreads; }

  ASSAY_DEVICE static int warp() { return thread_id() % kWarpgroupThreads / kLanes; }

  ASSAY_DEVICE static int pair_of(int j, int c) { return 8 * j + lane_id() % 4 * 2 + c; }

  // Of the warpgroup's 64 rows of a step, the thread's r-th.
  ASSAY_DEVICE static int row_of(int r) { return warp() * 16 + 8 * r + lane_id() / 4; }

  ASSAY_DEVICE static bool has_sum() { return thread_id() < 8 * kPairs; }

  ASSAY_DEVICE static void sync_halves() { barrier_sync(kHalvesBarrier, Shape::kConsumers); }

  // The item's queries, zeros where there is no pair, what each pair sees and where it is stored.
  ASSAY_DEVICE void load_queries(const Item& item) {
    constexpr int kChunks = kDim / 8;
    const int group = source_.num_heads_per_key();
    const int first_pair = item.tile * kPairs;
    const int num_pairs = source_.num_rows(item.stream) * group - first_pair;
    // No step of the item before still reads.
    sync_halves();
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
    sync_halves();
  }

  ASSAY_DEVICE void attend(const Item& item) {
    Both group;
    Both run;
    group.clear();
    run.clear();
    const std::int32_t end_in_groups = smaller_place(item.end_slice, item.first_lone_slice);
    for (std::int32_t slice = item.first_slice; slice < item.end_slice; ++slice) {
      Both own;
      attend_slice(item, slice, own);
      if (slice >= item.first_lone_slice) {
        store(output_.slices, slice, own);
        continue;
      }
      group.fold(own);
      if (slice + 1 != end_in_groups && (slice + 1) % kSlices != 0) {
        continue;
      }
      if (item.spill != ItemSpill::kRun) {
        store(output_.groups, slice / kSlices, group);
      } else {
        run.fold(group);
        if (slice + 1 == end_in_groups) {
          store(output_.runs, slice / kRunSlices, run);
        }
      }
      group.clear();
    }
  }

  ASSAY_DEVICE void attend_slice(const Item& item, std::int32_t slice, Both& own) {
    const std::int32_t first_key = slice * kSliceKeys;
    bool is_masked = false;
    if constexpr (Source::kIsMasked) {
      is_masked = item.common.begin > first_key || item.common.end < first_key + kSliceKeys;
    }
    float scores[kEights][4];
    multiply_keys(scores);
    if (Source::kIsMasked && is_masked) {
      mask(scores, first_key + 64 * warpgroup());
    }
    scale_scores(scores);
    sync_halves();
    take_maxima(own);
    weigh(scores, own.state);
    fence_async_proxy();
    sync_halves();
    multiply_values(own);
    if (Source::kIsMasked && is_masked) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        ASSAY_UNROLL
        for (int c = 0; c < 2; ++c) {
          if (own.state.m[j][c] == kNoScore) {
            own.state.clear(j, c);
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
      const std::uint16_t* k = stage(slots[half]) + kWarpgroupPairs * kPanelColumns * warpgroup();
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

  ASSAY_DEVICE void mask(float (&scores)[kEights][4], std::int32_t first_key) const {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        const KeyRange range = exchange_->ranges[pair_of(j, c)];
        ASSAY_UNROLL
        for (int r = 0; r < 2; ++r) {
          const std::int32_t key = first_key + row_of(r);
          if (key < range.begin || key >= range.end) {
            scores[j][2 * r + c] = kNoScore;
          }
        }
      }
    }
  }

  // From dots to scores, and the warp's largest of each pair for the others.
  ASSAY_DEVICE void scale_scores(float (&scores)[kEights][4]) {
    float maxima[kEights][2];
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        ASSAY_UNROLL
        for (int r = 0; r < 2; ++r) {
          scores[j][2 * r + c] = score_of(scores[j][2 * r + c], scale_);
        }
        maxima[j][c] = larger_of(scores[j][c], scores[j][2 + c]);
      }
    }
    ASSAY_UNROLL
    for (int distance = 4; distance < kLanes; distance *= 2) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        ASSAY_UNROLL
        for (int c = 0; c < 2; ++c) {
          maxima[j][c] = larger_of(maxima[j][c], shuffle_xor(maxima[j][c], distance));
        }
      }
    }
    if (lane_id() < 4) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        *reinterpret_cast<Float2*>(&exchange_->maxima[warp_id()][pair_of(j, 0)]) = {maxima[j][0],
                                                                                    maxima[j][1]};
      }
    }
  }

  ASSAY_DEVICE void take_maxima(Both& own) const {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      own.state.m[j][0] = own.state.m[j][1] = kNoScore;
      ASSAY_UNROLL
      for (int warp = 0; warp < Shape::kWarps; ++warp) {
        const Float2 maxima =
            *reinterpret_cast<const Float2*>(&exchange_->maxima[warp][pair_of(j, 0)]);
        own.state.m[j][0] = larger_of(own.state.m[j][0], maxima.values[0]);
        own.state.m[j][1] = larger_of(own.state.m[j][1], maxima.values[1]);
      }
    }
    own.sum = {};
    if (has_sum()) {
      float max = exchange_->maxima[lane_id() % 8][thread_id() / 8];
      ASSAY_UNROLL
      for (int distance = 1; distance < 8; distance *= 2) {
        max = larger_of(max, shuffle_xor(max, distance));
      }
      own.sum.m = max;
    }
  }

  // From scores to weights: rounded as an operand, by pair and key, and unrounded for the sums.
  ASSAY_DEVICE void weigh(float (&scores)[kEights][4], const State& state) {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; j += 2) {
      float each[8];
      ASSAY_UNROLL
      for (int i = 0; i < 8; ++i) {
        const float max = state.m[j + i / 4][i % 2];
        // Of a pair that sees nothing here, every weight is 0 and no difference is a NaN.
        each[i] = add_bits(scores[j + i / 4][i % 4], max == kNoScore ? 0.0F : -max);
      }
      Exp::of_each(each);
      ASSAY_UNROLL
      for (int i = 0; i < 8; i += 2) {
        const int pair = pair_of(j + i / 4, 0);
        const int row = row_of(i % 4 / 2);
        const std::uint32_t rounded = pack_bf16(each[i], each[i + 1]);
        *weight_at(pair, row) = static_cast<std::uint16_t>(rounded);
        *weight_at(pair + 1, row) = static_cast<std::uint16_t>(rounded >> 16);
        *reinterpret_cast<Float2*>(&exchange_->weights[64 * warpgroup() + row][pair]) = {
            each[i], each[i + 1]};
      }
    }
  }

  // Of a pair and a row of the warpgroup's half of the keys.
  ASSAY_DEVICE std::uint16_t* weight_at(int pair, int row) const {
    return weights_ + warpgroup() * Shape::kPairPanelElements + pair * kPanelColumns +
           ((row / 8) ^ (pair % 8)) * 8 + row % 8;
  }

  // k16 steps ascending over the keys, for each tile of 64 columns; meanwhile the sums of weights.
  ASSAY_DEVICE void multiply_values(Both& own) {
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
        wgmma_columns_by_rows(
            own.state.o[half], v, weights_ + step / 4 * Shape::kPairPanelElements, step, step > 0);
      }
      wgmma_commit();
    }
    if (has_sum()) {
      // The tree of sum_of_lanes().
      const float* weight = &exchange_->weights[lane_id() % 8][thread_id() / 8];
      float sum = 0;
      ASSAY_UNROLL
      for (int eight = 0; eight < kSliceKeys / 8; ++eight) {
        sum = add_bits(sum, weight[8 * eight * Shape::kRowFloats]);
      }
      ASSAY_UNROLL
      for (int distance = 1; distance < 8; distance *= 2) {
        sum = add_bits(sum, shuffle_xor(sum, distance));
      }
      own.sum.l = sum;
    }
    give_back_after_steps(*control_, slots);
  }

  // The next stage's slot, when it has arrived.
  ASSAY_DEVICE int next_slot() { return place_.template next<Source::kIsMasked>(*control_); }

  ASSAY_DEVICE const std::uint16_t* stage(int slot) const {
    return ring_ + slot * Shape::kStageElements;
  }

  // Pairs that saw no key stay unwritten.
  ASSAY_DEVICE void store(const StateArrays& table, std::int32_t number, const Both& both) {
    const std::int64_t first = std::int64_t{number} * output_.num_rows * output_.num_heads;
    if (has_sum() && lane_id() % 8 == 0) {
      const std::int32_t place = exchange_->places[thread_id() / 8];
      if (place >= 0 && both.sum.l != 0) {
        table.m[first + place] = both.sum.m;
        table.l[first + place] = both.sum.l;
      }
    }
    const State& state = both.state;
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        const std::int32_t place = exchange_->places[pair_of(j, c)];
        if (place < 0 || state.m[j][c] == kNoScore || state.m[j][c] == -kNoScore) {
          continue;
        }
        float* o = table.o + (first + place) * kDim + kDim / 2 * warpgroup();
        ASSAY_UNROLL
        for (int row = 0; row < kRows; ++row) {
          ASSAY_UNROLL
          for (int r = 0; r < 2; ++r) {
            o[64 * row + row_of(r)] = state.o[row][j][2 * r + c];
          }
        }
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
