// The baseline chunk kernel: one cell at a time, a full butterfly for each head.
#pragma once

#include "kernels/qsa_decode/cuda_chunk.cuh"

namespace assay::kernels::qsa_decode {

template <KvFormat kFormat>
__global__ void __launch_bounds__(kChunkThreads)
    qsa_decode_one_cell_chunk_kernel(const __grid_constant__ Params params) {
  constexpr Encoding kKey = key_encoding(kFormat);
  constexpr Encoding kValue = value_encoding(kFormat);
  __shared__ alignas(16) float q[kGroup][kHeadDim];
  __shared__ float scores[kGroup][kChunk];  // later the weights
  __shared__ std::int64_t rows[kChunk];

  const ChunkTile tile = ChunkTile::of_block();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  const int cells = num_cells(params, tile);
  if (cells == 0) {
    mark_empty(params, tile);
    return;
  }

  const std::int64_t first_head = tile.query * kNumHeads + tile.kv_head * kGroup;
  for (int i = thread; i < kGroup * kHeadDim; i += kChunkThreads) {
    q[i / kHeadDim][i % kHeadDim] = params.q[first_head * kHeadDim + i];
  }
  if (thread < kChunk) {
    rows[thread] = row_of_cell(params, tile, thread, cells);
  }
  __syncthreads();

  // Scores: a warp takes every eighth cell, a lane eight dims of it.
  for (int cell = warp; cell < kChunk; cell += kWarps) {
    const std::int64_t row = rows[cell];
    if (row < 0) {
      if (lane < kGroup) {
        scores[lane][cell] = kEmptyMark;
      }
      continue;
    }
    float k[kDimsPerLane];
    widen_key<kKey>(load_key<kKey>(params, row, lane), lane, k);
    for (int head = 0; head < kGroup; ++head) {
      const auto* slice = reinterpret_cast<const float4*>(&q[head][lane * kDimsPerLane]);
      const float sum = warp_sum(lane_dot(k, slice[0], slice[1]));
      if (lane == 0) {
        scores[head][cell] = score_of(sum);
      }
    }
  }
  __syncthreads();

  // Softmax of each head relative to the chunk's own maximum; weights replace scores.
  for (int head = warp; head < kGroup; head += kWarps) {
    const HeadWeights weights = weigh_head<PolynomialExp>(scores[head], rows, lane);
    scores[head][lane] = weights.low;
    scores[head][lane + kLanes] = weights.high;
    if (lane == 0) {
      params.m[tile.partial(params) + head] = weights.m;
      params.l[tile.partial(params) + head] = weights.l;
    }
  }
  __syncthreads();

  // Values: a thread owns one dim of all heads and folds live cells in ascending order.
  float acc[kGroup] = {};
  for (int cell = 0; cell < cells; ++cell) {
    if (rows[cell] < 0) {
      continue;
    }
    const float v = widen_value<kValue>(load_value<kValue>(params, rows[cell], thread), thread);
#pragma unroll
    for (int head = 0; head < kGroup; ++head) {
      acc[head] = fmaf(scores[head][cell], v, acc[head]);
    }
  }
  store_acc(params, tile, acc, thread);
}

}  // namespace assay::kernels::qsa_decode
