// The state of 16 pairs in the registers of two warpgroups (cuda_swapped.cuh), how a later one is
// folded into it, and how it is stored.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_swapped_shape.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// A thread's part: columns lane / 4 + 8 r of the warp's sixteen of each tile of 64, pairs 8 j +
// 2 (lane % 4) + c, at o[tile][j][2 r + c]. An empty pair's o is -0: see TileState.
template <int kDim>
struct SwappedColumns {
  static constexpr int kEights = SwappedShape<kDim>::kEights;
  static constexpr int kRows = SwappedShape<kDim>::kRows;

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

  ASSAY_DEVICE void fold(const SwappedColumns& later) {
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
struct SwappedSum {
  float m = kNoScore;
  float l = 0;

  ASSAY_DEVICE void fold(const SwappedSum& later) {
    const FoldFactors factors = fold_factors(m, later.m);
    m = factors.m;
    l = factors.fold(l, later.l);
  }
};

template <int kDim>
struct SwappedState {
  using Shape = SwappedShape<kDim>;
  using Thread = SwappedThread;

  SwappedColumns<kDim> columns;
  SwappedSum sum;

  ASSAY_DEVICE void clear() {
    columns.clear();
    sum = {};
  }

  ASSAY_DEVICE void fold(const SwappedState& later) {
    columns.fold(later.columns);
    sum.fold(later.sum);
  }

  // To the pairs' places of a number's states. Pairs that saw no key stay unwritten.
  ASSAY_DEVICE void store(const StateOutput& output,
                          const StateArrays& table,
                          std::int32_t number,
                          const typename Shape::Exchange& exchange) const {
    const std::int64_t first = std::int64_t{number} * output.num_rows * output.num_heads;
    if (Thread::has_sum() && lane_id() % 8 == 0) {
      const std::int32_t place = exchange.places[thread_id() / 8];
      if (place >= 0 && sum.l != 0) {
        table.m[first + place] = sum.m;
        table.l[first + place] = sum.l;
      }
    }
    ASSAY_UNROLL
    for (int j = 0; j < Shape::kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        const std::int32_t place = exchange.places[Thread::pair_of(j, c)];
        if (place < 0 || columns.m[j][c] == kNoScore || columns.m[j][c] == -kNoScore) {
          continue;
        }
        float* o = table.o + (first + place) * kDim + kDim / 2 * Thread::warpgroup();
        ASSAY_UNROLL
        for (int row = 0; row < Shape::kRows; ++row) {
          ASSAY_UNROLL
          for (int r = 0; r < 2; ++r) {
            o[64 * row + Thread::row_of(r)] = columns.o[row][j][2 * r + c];
          }
        }
      }
    }
  }
};

}  // namespace assay::kernels::attention
