// One warp's state of 16 pairs over a slice of 128 keys: all scores, one maximum, weights, their
// sum, the value product. A lane holds rows lane / 4 and lane / 4 + 8 of the tile and, in each
// column of 8, places 2 (lane % 4) and the next.
#pragma once

#include "kernels/attention/cuda_walk.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

// The shared exponential: the same bits on every device.
struct PolynomialExp {
  template <int kCount>
  static ASSAY_DEVICE void of_each(float (&x)[kCount]) {
    exp_bits_each(x);
  }
};

// The hardware's: fast, and bits of its own.
struct HardwareExp {
  template <int kCount>
  static ASSAY_DEVICE void of_each(float (&x)[kCount]) {
    ASSAY_UNROLL
    for (int i = 0; i < kCount; ++i) {
      x[i] = hardware_exp2(multiply_bits(x[i], kExpLog2E));
    }
  }
};

// Planted defects, as far as the two operators share them.
enum class Defect : std::uint8_t {
  kNone,
  kScaleOffBySixteenth,
  kDropsFourthSlice,
  kDropsFourthSliceInChunk,
  kReadsNextTile,
  kOverwritesTileBeingRead,
  kMergesInReverse,
  kSlicesInReverse,
  kContractsOneFold,
  kKeepsMaskedValues,
  kLeavesTailUnwritten,
};

// A lane's part of the state of 16 pairs, over kColumnsOfO columns of 8 dims. A row is empty where
// its l is 0.
template <int kColumnsOfO>
struct SliceState {
  float m[2];
  float l[2];
  float o[kColumnsOfO][4];

  ASSAY_DEVICE void clear() {
    m[0] = m[1] = kNoScore;
    l[0] = l[1] = 0.0F;
    ASSAY_UNROLL
    for (int column = 0; column < kColumnsOfO; ++column) {
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        o[column][i] = 0.0F;
      }
    }
  }
};

// Positions that each of a lane's two rows sees.
struct RowRanges {
  KeyRange rows[2];

  ASSAY_DEVICE bool sees(int row, int position) const {
    return position >= rows[row].begin && position < rows[row].end;
  }

  ASSAY_DEVICE bool sees_all(int begin, int end) const {
    return rows[0].begin <= begin && rows[0].end >= end && rows[1].begin <= begin &&
           rows[1].end >= end;
  }
};

template <Defect kDefect>
ASSAY_DEVICE float scale_of(float scale) {
  if constexpr (kDefect == Defect::kScaleOffBySixteenth) {
    return multiply_bits(scale, 1.0625F);
  }
  return scale;
}

// Dots become kNoScore, and with a scale above 0 stay it, where a row does not see the key. Column
// 0 begins at key `first_key`.
template <int kCount>
ASSAY_DEVICE void mask_scores(float (&scores)[kCount][4], const RowRanges& ranges, int first_key) {
  if (ranges.sees_all(first_key, first_key + kCount * kColumnKeys)) {
    return;
  }
  const int first = first_key + lane_id() % 4 * 2;
  ASSAY_UNROLL
  for (int column = 0; column < kCount; ++column) {
    ASSAY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (!ranges.sees(i / 2, first + column * kColumnKeys + i % 2)) {
        scores[column][i] = kNoScore;
      }
    }
  }
}

// Over the four lanes of a row.
ASSAY_DEVICE float meet_maxima(float max) {
  max = larger_of(max, shuffle_xor(max, 1));
  return larger_of(max, shuffle_xor(max, 2));
}

// From dots to scores, of one row among the lane's columns. Returns the largest of the row's, in
// its four lanes.
template <int kCount>
ASSAY_DEVICE float scale_scores(float (&scores)[kCount][4], int row, float scale) {
  float max = kNoScore;
  ASSAY_UNROLL
  for (int column = 0; column < kCount; ++column) {
    ASSAY_UNROLL
    for (int i = 0; i < 2; ++i) {
      float& score = scores[column][2 * row + i];
      score = score_of(score, scale);
      max = larger_of(max, score);
    }
  }
  return meet_maxima(max);
}

// From scores to weights, in place.
template <class Exp, int kCount>
ASSAY_DEVICE void weigh_scores(float (&scores)[kCount][4], int row, float max) {
  // Of a row that sees nothing here, every weight is 0 and no difference is a NaN.
  const float shift = max == kNoScore ? 0.0F : max;
  constexpr int kAtOnce = 4;
  ASSAY_UNROLL
  for (int first = 0; first < kCount; first += kAtOnce) {
    float each[2 * kAtOnce];
    ASSAY_UNROLL
    for (int i = 0; i < 2 * kAtOnce; ++i) {
      each[i] = add_bits(scores[first + i / 2][2 * row + i % 2], -shift);
    }
    Exp::of_each(each);
    ASSAY_UNROLL
    for (int i = 0; i < 2 * kAtOnce; ++i) {
      scores[first + i / 2][2 * row + i % 2] = each[i];
    }
  }
}

// On top of the sums of the keys before.
template <int kCount>
ASSAY_DEVICE void add_weights(const float (&weights)[kCount][4], int row, float (&sums)[2]) {
  ASSAY_UNROLL
  for (int column = 0; column < kCount; ++column) {
    sums[0] = add_bits(sums[0], weights[column][2 * row]);
    sums[1] = add_bits(sums[1], weights[column][2 * row + 1]);
  }
}

// The tree of sum_of_lanes().
ASSAY_DEVICE float meet_sums(const float (&sums)[2]) {
  float sum = add_bits(sums[0], sums[1]);
  sum = add_bits(sum, shuffle_xor(sum, 1));
  return add_bits(sum, shuffle_xor(sum, 2));
}

// From dots to weights: m and l of the state, and the weights as fragments of the value product.
template <class Exp, class State>
ASSAY_DEVICE void weigh(float (&scores)[kColumns][4],
                        std::uint32_t (&weights)[kUnits][4],
                        float scale,
                        State& state) {
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    state.m[row] = scale_scores(scores, row, scale);
    weigh_scores<Exp>(scores, row, state.m[row]);
    float sums[2] = {0.0F, 0.0F};
    add_weights(scores, row, sums);
    state.l[row] = meet_sums(sums);
    ASSAY_UNROLL
    for (int column = 0; column < kColumns; ++column) {
      weights[column / 2][row + column % 2 * 2] =
          pack_bf16(scores[column][2 * row], scores[column][2 * row + 1]);
    }
  }
}

// A slice, whose keys and then values `ring` hands out 16 at a time as far as `span` says; the rest
// is masked. Columns of o start at chunk `first_chunk` of a value's row.
template <class Exp, Defect kDefect, int kDim, int kColumnsOfO, class Ring>
ASSAY_DEVICE void attend_slice(Ring& ring,
                               const std::byte* queries,
                               float scale,
                               const RowRanges& ranges,
                               int slice,
                               const SliceSpan& span,
                               int first_chunk,
                               SliceState<kColumnsOfO>& state) {
  std::uint32_t weights[kUnits][4];
  state.clear();
  {
    float scores[kColumns][4] = {};
    ASSAY_UNROLL
    for (int unit = 0; unit < kUnits; ++unit) {
      if (span.has(unit)) {
        const std::byte* keys = ring.next_unit();
        multiply_keys<kDim>(scores[2 * unit], scores[2 * unit + 1], queries, keys);
      }
    }
    mask_scores(scores, ranges, slice * kSliceKeys);
    weigh<Exp>(scores, weights, scale_of<kDefect>(scale), state);
  }

  ASSAY_UNROLL
  for (int unit = 0; unit < kUnits; ++unit) {
    if (span.has(unit)) {
      const std::byte* values = ring.next_unit();
      multiply_values<kDim>(state.o, weights[unit], values, first_chunk);
    }
  }
}

// The same as attend_slice() in little code, for what runs once: a cold instruction costs more than
// a loop. `scores` has kRolledFloats floats for the warp.
inline constexpr int kRolledFloats = kColumns * 4 * kLanes;

template <class Exp, int kDim, class Ring>
ASSAY_DEVICE void attend_slice_rolled(Ring& ring,
                                      const std::byte* queries,
                                      float scale,
                                      const RowRanges& ranges,
                                      int first_key,
                                      const SliceSpan& span,
                                      float* scores,
                                      SliceState<kDim / kColumnKeys>& state) {
  state.clear();
  const int first = first_key + lane_id() % 4 * 2;
  float max[2] = {kNoScore, kNoScore};
  ASSAY_NO_UNROLL
  for (int unit = span.first_unit; unit < span.end_unit; ++unit) {
    float columns[2][4] = {};
    multiply_keys<kDim>(columns[0], columns[1], queries, ring.next_unit());
    ASSAY_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int row = i % 4 / 2;
      const int key = first + unit * kStepKeys + i / 4 * kColumnKeys + i % 2;
      const float score = ranges.sees(row, key) ? score_of(columns[i / 4][i % 4], scale) : kNoScore;
      max[row] = larger_of(max[row], score);
      scores[(8 * unit + i) * kLanes + lane_id()] = score;
    }
  }
  float shift[2];
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    max[row] = meet_maxima(max[row]);
    shift[row] = max[row] == kNoScore ? 0.0F : max[row];
  }
  float sums[2][2] = {};
  ASSAY_NO_UNROLL
  for (int unit = span.first_unit; unit < span.end_unit; ++unit) {
    float each[8];
    ASSAY_UNROLL
    for (int i = 0; i < 8; ++i) {
      each[i] = add_bits(scores[(8 * unit + i) * kLanes + lane_id()], -shift[i % 4 / 2]);
    }
    Exp::of_each(each);
    ASSAY_UNROLL
    for (int i = 0; i < 8; ++i) {
      float& sum = sums[i % 4 / 2][i % 2];
      sum = add_bits(sum, each[i]);
    }
    std::uint32_t weights[4];
    ASSAY_UNROLL
    for (int i = 0; i < 4; ++i) {
      weights[i] = pack_bf16(each[2 * i], each[2 * i + 1]);
    }
    multiply_values<kDim>(state.o, weights, ring.next_unit(), 0);
  }
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    state.m[row] = max[row];
    state.l[row] = meet_sums(sums[row]);
  }
}

// How one row's state takes in a later one.
struct RowFold {
  FoldFactors factors;
  bool takes_first;
  bool takes_second;

  static ASSAY_DEVICE RowFold of(float a_max, float a_sum, float b_max, float b_sum) {
    return {fold_factors(a_max, b_max), b_sum == 0.0F, a_sum == 0.0F};
  }

  ASSAY_DEVICE float max(float a, float b) const {
    return takes_first ? a : takes_second ? b : factors.m;
  }

  template <bool kIsContracted = false>
  ASSAY_DEVICE float value(float a, float b) const {
    float folded = factors.fold(a, b);
    if constexpr (kIsContracted) {
      folded = fma_bits(a, factors.a, multiply_bits(b, factors.b));
    }
    return takes_first ? a : takes_second ? b : folded;
  }
};

}  // namespace assay::kernels::attention
