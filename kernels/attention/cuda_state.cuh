// Where states go: memory, a lane's own place in shared memory, or a later state.
#pragma once

#include "kernels/attention/cuda_slice.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

struct alignas(16) Float4 {
  float values[4];
};

struct alignas(8) Float2 {
  float values[2];
};

// m, l and o of many (row, head), o with a row of dims each.
struct StateArrays {
  float* m;
  float* l;
  float* o;
};

// Stores a lane's two rows at first_place + places[row], below 0: nowhere; their dims start at
// `first_dim` of `dim`. Empty rows stay unwritten.
template <int kColumnsOfO>
ASSAY_DEVICE void store_state(const SliceState<kColumnsOfO>& state,
                              const StateArrays& arrays,
                              std::int64_t first_place,
                              const std::int64_t (&places)[2],
                              int first_dim,
                              int dim) {
  const int quad = lane_id() % 4;
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    if (places[row] < 0 || state.l[row] == 0.0F) {
      continue;
    }
    const std::int64_t place = first_place + places[row];
    if (quad == 0 && first_dim == 0) {
      arrays.m[place] = state.m[row];
      arrays.l[place] = state.l[row];
    }
    float* o = arrays.o + place * dim + first_dim + quad * 2;
    ASSAY_UNROLL
    for (int column = 0; column < kColumnsOfO; ++column) {
      *reinterpret_cast<Float2*>(o + column * kColumnKeys) = {state.o[column][2 * row],
                                                              state.o[column][2 * row + 1]};
    }
  }
}

// A warp's state in shared memory: each lane reads what the same lane wrote.
template <int kColumnsOfO>
struct LaneBuffer {
  static constexpr int kBytes = (kColumnsOfO + 1) * kLanes * static_cast<int>(sizeof(Float4));

  Float4* lanes;

  ASSAY_DEVICE explicit LaneBuffer(std::byte* memory)
      : lanes(reinterpret_cast<Float4*>(memory) + lane_id()) {}

  ASSAY_DEVICE void write(const SliceState<kColumnsOfO>& state) {
    lanes[0] = {state.m[0], state.m[1], state.l[0], state.l[1]};
    ASSAY_UNROLL
    for (int column = 0; column < kColumnsOfO; ++column) {
      const float(&o)[4] = state.o[column];
      lanes[(column + 1) * kLanes] = {o[0], o[1], o[2], o[3]};
    }
  }

  // The state becomes what lies here with the state folded in.
  template <Defect kDefect>
  ASSAY_DEVICE void fold_before(SliceState<kColumnsOfO>& state) const {
    constexpr bool kIsContracted = kDefect == Defect::kContractsOneFold;
    const Float4 sums = lanes[0];
    RowFold folds[2];
    ASSAY_UNROLL
    for (int row = 0; row < 2; ++row) {
      const float m = sums.values[row];
      const float l = sums.values[2 + row];
      folds[row] = RowFold::of(m, l, state.m[row], state.l[row]);
      state.m[row] = folds[row].max(m, state.m[row]);
      state.l[row] = folds[row].template value<kIsContracted>(l, state.l[row]);
    }
    ASSAY_UNROLL
    for (int column = 0; column < kColumnsOfO; ++column) {
      const Float4 before = lanes[(column + 1) * kLanes];
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        float& o = state.o[column][i];
        o = folds[i / 2].template value<kIsContracted>(before.values[i], o);
      }
    }
  }
};

// Folds a later state into one in registers.
template <int kColumnsOfO>
ASSAY_DEVICE void fold_after(SliceState<kColumnsOfO>& state, const SliceState<kColumnsOfO>& later) {
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    const RowFold fold = RowFold::of(state.m[row], state.l[row], later.m[row], later.l[row]);
    state.m[row] = fold.max(state.m[row], later.m[row]);
    state.l[row] = fold.value(state.l[row], later.l[row]);
    ASSAY_UNROLL
    for (int column = 0; column < kColumnsOfO; ++column) {
      ASSAY_UNROLL
      for (int i = 0; i < 2; ++i) {
        float& o = state.o[column][2 * row + i];
        o = fold.value(o, later.o[column][2 * row + i]);
      }
    }
  }
}

}  // namespace assay::kernels::attention
