// The state of a tile of 64 pairs by 128 columns in the registers of a warpgroup, how a later one
// is folded into it, and where a run's waits in shared memory.
#pragma once

#include "kernels/attention/cuda_items.cuh"
#include "kernels/attention/cuda_state.cuh"

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

}  // namespace assay::kernels::attention
