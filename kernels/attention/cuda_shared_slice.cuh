// One slice of 16 pairs by all warps of a block, for what must end soon: each warp scores and
// weighs its share of the keys and holds its share of the columns.
#pragma once

#include "kernels/attention/cuda_staged.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

// Dynamic shared memory of a block. Weights are unrounded; their rows lie in banks of their own.
template <int kDim>
struct SharedSliceMemory {
  std::byte queries[kTilePairs * kRowBytes<kDim>];
  std::byte keys[kSliceKeys * kRowBytes<kDim>];
  std::byte values[kSliceKeys * kRowBytes<kDim>];
  float weights[kTilePairs][kSliceKeys + 8];
  float maxima[kUnits][kTilePairs];
};

// `Tile` is as in TileRing. kWarps warps call together, and meet at `barrier`.
template <class Exp, int kDim, int kWarps, class Tile>
class SharedSlice {
  static constexpr int kThreads = kWarps * kLanes;
  static constexpr int kOwnColumns = kDim / kColumnKeys / kWarps;
  static_assert(kUnits % kWarps == 0 && kOwnColumns % 2 == 0, "a warp takes whole units of keys");

 public:
  using State = SliceState<kOwnColumns>;  // of dims from first_dim() on

  ASSAY_DEVICE SharedSlice(const Tile& tile,
                           float scale,
                           int barrier,
                           SharedSliceMemory<kDim>& memory)
      : tile_(tile),
        rows_(LaneRows::of(tile, 0)),
        scale_(scale),
        barrier_(barrier),
        memory_(memory) {
    copy_queries<kDim>(tile, 0, kTilePairs, memory.queries, thread_id(), kThreads);
  }

  ASSAY_DEVICE static int first_dim() { return warp_id() * kOwnColumns * kColumnKeys; }

  ASSAY_DEVICE const LaneRows& rows() const { return rows_; }

  // Slice `number`, whose keys lie in `span`.
  ASSAY_DEVICE void attend(int number, const SliceSpan& span, State& state) {
    const int first_key = number * kSliceKeys;
    copy_rows(first_key, span, false, memory_.keys);
    commit_copies();
    copy_rows(first_key, span, true, memory_.values);
    commit_copies();
    wait_for_copies<1>();
    meet();
    state.clear();
    score(first_key, span);
    meet();
    ASSAY_UNROLL
    for (int row = 0; row < 2; ++row) {
      ASSAY_NO_UNROLL
      for (int unit = span.first_unit; unit < span.end_unit; ++unit) {
        state.m[row] = larger_of(state.m[row], memory_.maxima[unit][lane_row(row)]);
      }
    }
    weigh(span, state);
    wait_for_copies<0>();
    meet();
    multiply(span, state);
    // The memory is the next slice's.
    meet();
  }

 private:
  ASSAY_DEVICE void meet() const { barrier_sync(barrier_, kThreads); }

  ASSAY_DEVICE static int lane_row(int row) { return lane_id() / 4 + 8 * row; }

  // Of a unit, the lane's first key in its columns of eight.
  ASSAY_DEVICE float* weight_at(int row, int unit, int column) const {
    return &memory_.weights[lane_row(row)]
                           [unit * kStepKeys + column * kColumnKeys + lane_id() % 4 * 2];
  }

  // The warp's units.
  ASSAY_DEVICE void copy_rows(int first_key,
                              const SliceSpan& span,
                              bool is_value,
                              std::byte* target) const {
    constexpr int kRowChunks = kDim / kChunkElements;
    constexpr int kRowsAtOnce = kLanes / kRowChunks;
    const int chunk = lane_id() % kRowChunks;
    for (int unit = span.first_unit + warp_id(); unit < span.end_unit; unit += kWarps) {
      ASSAY_NO_UNROLL
      for (int first = 0; first < kStepKeys; first += kRowsAtOnce) {
        const int row = unit * kStepKeys + first + lane_id() / kRowChunks;
        const int position = first_key + row;
        const bool is_seen = position >= tile_.loaded.begin && position < tile_.loaded.end;
        // A row that is not read still needs an address.
        const std::uint16_t* source =
            tile_.row(is_seen ? position : tile_.loaded.begin, is_value) + chunk * kChunkElements;
        copy_async(chunk_of<kDim>(target, row, chunk), source, is_seen);
      }
    }
  }

  // Scores of the warp's units, and their largest by row.
  ASSAY_DEVICE void score(int first_key, const SliceSpan& span) const {
    for (int unit = span.first_unit + warp_id(); unit < span.end_unit; unit += kWarps) {
      float columns[2][4] = {};
      multiply_keys<kDim>(columns[0],
                          columns[1],
                          memory_.queries,
                          memory_.keys + unit * kStepKeys * kRowBytes<kDim>);
      mask_scores(columns, rows_.ranges, first_key + unit * kStepKeys);
      ASSAY_UNROLL
      for (int row = 0; row < 2; ++row) {
        const float max = scale_scores(columns, row, scale_);
        if (lane_id() % 4 == 0) {
          memory_.maxima[unit][lane_row(row)] = max;
        }
        ASSAY_UNROLL
        for (int column = 0; column < 2; ++column) {
          *reinterpret_cast<Float2*>(weight_at(row, unit, column)) = {columns[column][2 * row],
                                                                      columns[column][2 * row + 1]};
        }
      }
    }
  }

  // From scores to weights, in place: the warp's units.
  ASSAY_DEVICE void weigh(const SliceSpan& span, const State& state) const {
    for (int unit = span.first_unit + warp_id(); unit < span.end_unit; unit += kWarps) {
      float each[8];
      ASSAY_UNROLL
      for (int i = 0; i < 8; ++i) {
        // Of a row that sees nothing here, every weight is 0 and no difference is a NaN.
        const float max = state.m[i % 4 / 2];
        each[i] = add_bits(weight_at(i % 4 / 2, unit, i / 4)[i % 2], max == kNoScore ? 0.0F : -max);
      }
      Exp::of_each(each);
      ASSAY_UNROLL
      for (int i = 0; i < 8; ++i) {
        weight_at(i % 4 / 2, unit, i / 4)[i % 2] = each[i];
      }
    }
  }

  // The sums of weights, and the warp's columns of the value product.
  ASSAY_DEVICE void multiply(const SliceSpan& span, State& state) const {
    float sums[2][2] = {};
    ASSAY_NO_UNROLL
    for (int unit = span.first_unit; unit < span.end_unit; ++unit) {
      std::uint32_t weights[4];
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        const Float2 pair = *reinterpret_cast<const Float2*>(weight_at(i % 2, unit, i / 2));
        weights[i] = pack_bf16(pair.values[0], pair.values[1]);
        ASSAY_UNROLL
        for (int place = 0; place < 2; ++place) {
          sums[i % 2][place] = add_bits(sums[i % 2][place], pair.values[place]);
        }
      }
      multiply_values<kDim>(state.o,
                            weights,
                            memory_.values + unit * kStepKeys * kRowBytes<kDim>,
                            warp_id() * kOwnColumns);
    }
    ASSAY_UNROLL
    for (int row = 0; row < 2; ++row) {
      state.l[row] = meet_sums(sums[row]);
    }
  }

  const Tile& tile_;
  LaneRows rows_;
  float scale_;
  int barrier_;
  SharedSliceMemory<kDim>& memory_;
};

}  // namespace assay::kernels::attention
