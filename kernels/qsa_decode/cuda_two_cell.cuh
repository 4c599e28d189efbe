// The chunk kernel that takes several cells a step: a lane reads its slice of q once for all of
// them, and the heads of a cell meet in a reduce-scatter with the butterfly's partners.
#pragma once

#include "kernels/qsa_decode/cuda_values.cuh"

namespace assay::kernels::qsa_decode {

inline constexpr int kPaddedHeads = 16;

// The half of the values that the lane's bit chooses, each plus the partner's.
template <int kKept>
__device__ inline void halve(float (&values)[kPaddedHeads], int lane, int step, int partner) {
  const bool keeps_upper = (lane & step) != 0;
#pragma unroll
  for (int i = 0; i < kKept; ++i) {
    const float kept = keeps_upper ? values[i + kKept] : values[i];
    const float sent = keeps_upper ? values[i] : values[i + kKept];
    values[i] = __fadd_rn(kept, __shfl_xor_sync(kAllLanes, sent, partner));
  }
}

// The sum over lanes of each head's dot; lanes 2h and 2h + 1 get head h's, lanes past 23 get zero.
template <Mutation kMutation = Mutation::kNone>
__device__ inline float reduce_heads(const float (&dots)[kGroup], int lane) {
  float values[kPaddedHeads] = {};
#pragma unroll
  for (int head = 0; head < kGroup; ++head) {
    values[head] = dots[head];
  }
  halve<8>(values, lane, 16, 16);
  halve<4>(values, lane, 8, 8);
  halve<2>(values, lane, 4, kMutation == Mutation::kWrongPartner ? 12 : 4);
  halve<1>(values, lane, 2, 2);
  return __fadd_rn(values[0], __shfl_xor_sync(kAllLanes, values[0], 1));
}

// q of one KV head, a lane's two quads apart, so that 16-byte reads of a warp are contiguous.
__device__ inline void load_q_split(const Params& params,
                                    const ChunkTile& tile,
                                    float4 (&q)[kGroup][2][kLanes],
                                    int thread) {
  constexpr int kQuadsPerHead = kHeadDim / 4;
  const std::int64_t first_head = tile.query * kNumHeads + tile.kv_head * kGroup;
  const auto* quads = reinterpret_cast<const float4*>(params.q + first_head * kHeadDim);
#pragma unroll
  for (int i = thread; i < kGroup * kQuadsPerHead; i += kChunkThreads) {
    const int quad = i % kQuadsPerHead;
    q[i / kQuadsPerHead][quad % 2][quad / 2] = __ldg(quads + i);
  }
}

// Scores of kCells live cells of one warp, eight apart from `first_cell`.
template <Encoding kKey, int kCells, Mutation kMutation>
__device__ inline void score_cells(const Params& params,
                                   const float4 (&q)[kGroup][2][kLanes],
                                   const std::int64_t* rows,
                                   float (&scores)[kGroup][kChunk],
                                   int first_cell,
                                   int lane) {
  KeyCodes codes[kCells];
#pragma unroll
  for (int i = 0; i < kCells; ++i) {
    codes[i] = load_key<kKey, kMutation>(params, rows[first_cell + i * kWarps], lane);
  }
  float k[kCells][kDimsPerLane];
#pragma unroll
  for (int i = 0; i < kCells; ++i) {
    widen_key<kKey, kMutation>(codes[i], lane, k[i]);
  }

  float dots[kCells][kGroup];
#pragma unroll
  for (int head = 0; head < kGroup; ++head) {
    const float4 low = q[head][0][lane];
    const float4 high = q[head][1][lane];
#pragma unroll
    for (int i = 0; i < kCells; ++i) {
      dots[i][head] = lane_dot(k[i], low, high);
    }
  }
#pragma unroll
  for (int i = 0; i < kCells; ++i) {
    const float sum = reduce_heads<kMutation>(dots[i], lane);
    if (lane % 2 == 0 && lane < 2 * kGroup) {
      scores[lane / 2][first_cell + i * kWarps] = score_of<kMutation>(sum);
    }
  }
}

template <KvFormat kFormat, int kCells, class Exp, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(kChunkThreads)
    qsa_decode_two_cell_chunk_kernel(const __grid_constant__ Params params, bool prefetch) {
  static_assert(kCellsPerWarp % kCells == 0, "a step's cells divide a warp's");
  constexpr Encoding kKey = key_encoding(kFormat);
  constexpr Encoding kValue = value_encoding(kFormat);
  __shared__ float4 q[kGroup][2][kLanes];  // later the weights
  __shared__ float scores[kGroup][kChunk];
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

  if (thread < kChunk) {
    constexpr int kDropped = kMutation == Mutation::kDropsLastCell ? 1 : 0;
    rows[thread] = row_of_cell<kMutation>(params, tile, thread, cells - kDropped);
  }
  load_q_split(params, tile, q, thread);
  __syncthreads();
  if (prefetch) {
    prefetch_rows<kKey>(params.k, rows, thread);
    prefetch_rows<kValue>(params.v, rows, thread);
  }

  // Scores: a step is taken whole if all its cells are live, else cell by cell.
  for (int step = 0; step < kCellsPerWarp; step += kCells) {
    const int first_cell = warp + step * kWarps;
    bool all_live = true;
#pragma unroll
    for (int i = 0; i < kCells; ++i) {
      all_live = all_live && rows[first_cell + i * kWarps] >= 0;
    }
    if (all_live) {
      score_cells<kKey, kCells, kMutation>(params, q, rows, scores, first_cell, lane);
      continue;
    }
    for (int i = 0; i < kCells; ++i) {
      const int cell = first_cell + i * kWarps;
      constexpr bool kDropsStep = kMutation == Mutation::kMaskedTakesNeighbour;
      if (!kDropsStep && rows[cell] >= 0) {
        score_cells<kKey, 1, kMutation>(params, q, rows, scores, cell, lane);
      } else if (lane < kGroup) {
        scores[lane][cell] = kEmptyMark;
      }
    }
  }
  __syncthreads();

  // The barrier above was q's last use: its storage now holds the weights.
  auto* weights = reinterpret_cast<float*>(q);
  static_assert(sizeof(q) >= sizeof(float) * kChunk * kGroup, "weights fit where q was");
  weigh_chunk<Exp>(params, tile, scores, rows, weights, warp, lane);
  __syncthreads();

  float acc[kGroup] = {};
  fold_values<kValue, kMutation>(params, rows, weights, cells, thread, acc);
  store_acc(params, tile, acc, thread);
}

}  // namespace assay::kernels::qsa_decode
