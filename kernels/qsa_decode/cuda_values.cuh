// The part of a chunk after its scores that two_cell and lane_cell share: weights stored cell-major
// and values folded with several loads in flight.
#pragma once

#include "kernels/qsa_decode/cuda_chunk.cuh"

namespace assay::kernels::qsa_decode {

inline constexpr int kValuesPerStep = 4;

// Asks the L2 for the bytes of K and V rows that the block will read, a line a thread at a time.
template <Encoding kEncoding>
__device__ inline void prefetch_rows(const void* pool, const std::int64_t* rows, int thread) {
  constexpr int kLineBytes = 128;
  constexpr int kRowBytes = kEncoding == Encoding::kF16  ? kHeadDim * 2
                            : kEncoding == Encoding::kI8 ? kHeadDim
                                                         : kQ4RowBytes;
  constexpr int kLinesPerRow = (kRowBytes + kLineBytes - 1) / kLineBytes;
  for (int i = thread; i < kChunk * kLinesPerRow; i += kChunkThreads) {
    const std::int64_t row = rows[i / kLinesPerRow];
    if (row >= 0) {
      const char* line =
          static_cast<const char*>(pool) + row * kRowBytes + i % kLinesPerRow * kLineBytes;
      asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(line)));
    }
  }
}

// Softmax of all heads; writes m and l, and the weights as [cell][head].
template <class Exp>
__device__ inline void weigh_chunk(const Params& params,
                                   const ChunkTile& tile,
                                   const float (&scores)[kGroup][kChunk],
                                   const std::int64_t* rows,
                                   float* weights,
                                   int warp,
                                   int lane) {
  for (int head = warp; head < kGroup; head += kWarps) {
    const HeadWeights weighed = weigh_head<Exp>(scores[head], rows, lane);
    weights[lane * kGroup + head] = weighed.low;
    weights[(lane + kLanes) * kGroup + head] = weighed.high;
    if (lane == 0) {
      params.m[tile.partial(params) + head] = weighed.m;
      params.l[tile.partial(params) + head] = weighed.l;
    }
  }
}

// One cell's weights times its value at one dim, into the accumulators of all heads.
template <Mutation kMutation = Mutation::kNone>
__device__ inline void fold_cell(const float* weights, int cell, float v, float (&acc)[kGroup]) {
  static_assert(kGroup % 4 == 0, "a cell's weights are read 16 bytes at a time");
  if constexpr (kMutation == Mutation::kWeightsHeadMajor) {
#pragma unroll
    for (int head = 0; head < kGroup; ++head) {
      acc[head] = fmaf(weights[head * kChunk + cell], v, acc[head]);
    }
    return;
  }
  const auto* quads = reinterpret_cast<const float4*>(weights + cell * kGroup);
#pragma unroll
  for (int i = 0; i < kGroup / 4; ++i) {
    const float4 p = quads[i];
    acc[4 * i] = fmaf(p.x, v, acc[4 * i]);
    acc[4 * i + 1] = fmaf(p.y, v, acc[4 * i + 1]);
    acc[4 * i + 2] = fmaf(p.z, v, acc[4 * i + 2]);
    acc[4 * i + 3] = fmaf(p.w, v, acc[4 * i + 3]);
  }
}

// Folds live cells in ascending order; where four are live their loads are in flight together.
template <Encoding kValue, Mutation kMutation = Mutation::kNone>
__device__ inline void fold_values(const Params& params,
                                   const std::int64_t* rows,
                                   const float* weights,
                                   int cells,
                                   int dim,
                                   float (&acc)[kGroup]) {
  for (int first = 0; first < cells; first += kValuesPerStep) {
    std::int64_t step_rows[kValuesPerStep];
    std::int64_t signs = 0;
#pragma unroll
    for (int i = 0; i < kValuesPerStep; ++i) {
      step_rows[i] = rows[first + i];
      signs |= step_rows[i];
    }
    if (signs >= 0) {
      ValueCode values[kValuesPerStep];
#pragma unroll
      for (int i = 0; i < kValuesPerStep; ++i) {
        values[i] = load_value<kValue>(params, step_rows[i], dim);
      }
#pragma unroll
      for (int i = 0; i < kValuesPerStep; ++i) {
        constexpr bool kReversed = kMutation == Mutation::kFoldsOutOfOrder;
        const int place = kReversed ? kValuesPerStep - 1 - i : i;
        const float v = widen_value<kValue>(values[place], dim);
        fold_cell<kMutation>(weights, first + place, v, acc);
      }
      continue;
    }
    for (int i = 0; i < kValuesPerStep; ++i) {
      const std::int64_t row = rows[first + i];
      if (row >= 0) {
        const float v = widen_value<kValue>(load_value<kValue>(params, row, dim), dim);
        fold_cell<kMutation>(weights, first + i, v, acc);
      }
    }
  }
}

}  // namespace assay::kernels::qsa_decode
