// What the chunk kernels share: the rows of a chunk's cells, the dot of a lane, the softmax of one
// head and the fold of values. One block of 256 threads serves (chunk, KV head, query).
#pragma once

#include "kernels/numerics.h"
#include "kernels/qsa_decode/cuda_formats.cuh"

#include <cstdint>

namespace assay::kernels::qsa_decode {

inline constexpr int kChunkThreads = 256;
inline constexpr int kWarps = kChunkThreads / kLanes;
inline constexpr int kCellsPerWarp = kChunk / kWarps;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;
inline constexpr std::int64_t kMasked = -1;

static_assert(kHeadDim == kLanes * kDimsPerLane, "a lane owns eight dims of a row");
static_assert(kHeadDim == kChunkThreads, "values fold with one thread per dim");
static_assert(kChunk == 2 * kLanes, "a lane weighs two cells of a chunk");

// The shared exponential: the same bits on every device.
struct PolynomialExp {
  static __device__ float of(float x) { return exp_bits(x); }
};

// The hardware's: fast, and bits of its own.
struct HardwareExp {
  static __device__ float of(float x) {
    float y = __fmul_rn(x, 1.44269502F);
    asm("ex2.approx.f32 %0, %0;" : "+f"(y));
    return y;
  }
};

// One chunk of one KV head and query.
struct ChunkTile {
  std::int64_t chunk;
  std::int64_t kv_head;
  std::int64_t query;

  static __device__ ChunkTile of_block() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }

  // Of (head 0 of this KV head) in m and l; times kHeadDim, in acc.
  __device__ std::int64_t partial(const Params& params) const {
    return ((query * kNumKvHeads + kv_head) * params.num_chunks + chunk) * kGroup;
  }
};

// Cells of the chunk that the query's width covers; 0 where there are none.
__device__ inline int num_cells(const Params& params, const ChunkTile& tile) {
  const std::int64_t width = params.steps[tile.query * params.steps_stride + 3];
  const std::int64_t rest = width - tile.chunk * kChunk;
  return rest <= 0 ? 0 : static_cast<int>(rest < kChunk ? rest : kChunk);
}

// m and l of a chunk with nothing to attend; its acc stays unwritten.
__device__ inline void mark_empty(const Params& params, const ChunkTile& tile) {
  if (threadIdx.x < kGroup) {
    params.m[tile.partial(params) + threadIdx.x] = kEmptyMark;
    params.l[tile.partial(params) + threadIdx.x] = 0.0F;
  }
}

// The row of a cell in the pools, or kMasked past the width and where its page is not resident.
template <Mutation kMutation = Mutation::kNone>
__device__ inline std::int64_t row_of_cell(const Params& params,
                                           const ChunkTile& tile,
                                           int cell,
                                           int num_cells) {
  if (cell >= num_cells) {
    return kMasked;
  }
  std::int64_t query = tile.query;
  if constexpr (kMutation == Mutation::kReadsNeighbourSelection) {
    query = (query + 1) % params.num_queries;
  }
  const std::int64_t entry = query * params.ids_stride + tile.chunk * kChunk + cell;
  const std::int32_t id = __ldg(params.ids + entry);
  std::int64_t page = __ldg(params.page_table + id / params.page_size);
  if constexpr (kMutation == Mutation::kAdmitsMaskedCell) {
    page = page < 0 ? 0 : page;
  }
  if (page < 0) {
    return kMasked;
  }
  return (page * kNumKvHeads + tile.kv_head) * params.page_size + id % params.page_size;
}

// The pinned chain of a lane's eight products.
__device__ inline float lane_dot(const float (&k)[kDimsPerLane],
                                 const float4& low,
                                 const float4& high) {
  float sum = __fmul_rn(k[1], low.y);
  sum = fmaf(k[0], low.x, sum);
  sum = fmaf(k[2], low.z, sum);
  sum = fmaf(k[3], low.w, sum);
  sum = fmaf(k[4], high.x, sum);
  sum = fmaf(k[5], high.y, sum);
  sum = fmaf(k[6], high.z, sum);
  return fmaf(k[7], high.w, sum);
}

// The score of a summed dot. Adding +0 leaves no -0 for a max to choose.
template <Mutation kMutation = Mutation::kNone>
__device__ inline float score_of(float sum) {
  float scale = kScoreScale;
  if constexpr (kMutation == Mutation::kScoreScaleOffBySixteenth) {
    scale = kScoreScale * (1.0F + 1.0F / 16.0F);
  }
  return __fadd_rn(__fmul_rn(sum, scale), 0.0F);
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    value = __fadd_rn(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

__device__ inline float warp_max(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

// Softmax of one head by one warp; a lane holds cells `lane` and `lane + 32`.
struct HeadWeights {
  float low;
  float high;
  float m;
  float l;
};

template <class Exp>
__device__ inline HeadWeights weigh_head(const float* scores, const std::int64_t* rows, int lane) {
  const float low = scores[lane];
  const float high = scores[lane + kLanes];
  HeadWeights head;
  head.m = warp_max(fmaxf(low, high));
  head.low = rows[lane] < 0 ? 0.0F : Exp::of(__fsub_rn(low, head.m));
  head.high = rows[lane + kLanes] < 0 ? 0.0F : Exp::of(__fsub_rn(high, head.m));
  head.l = warp_sum(__fadd_rn(head.low, head.high));
  return head;
}

// Writes the accumulators of one dim.
__device__ inline void store_acc(const Params& params,
                                 const ChunkTile& tile,
                                 const float (&acc)[kGroup],
                                 int dim) {
  float* out = params.acc + tile.partial(params) * kHeadDim + dim;
#pragma unroll
  for (int head = 0; head < kGroup; ++head) {
    out[head * kHeadDim] = acc[head];
  }
}

}  // namespace assay::kernels::qsa_decode
