// The merge kernels: one thread per (query, head, dim) folds the chunks of its head in ascending
// order into one chain and divides once. One block of 256 threads serves (head, query).
#pragma once

#include "kernels/qsa_decode/cuda_chunk.cuh"

#include <cstdint>

namespace assay::kernels::qsa_decode {

inline constexpr int kMergeThreads = kHeadDim;

// Where the partials of one head of one query lie: chunk c's are kGroup places after chunk c - 1's.
struct MergeTile {
  std::int64_t head;
  std::int64_t query;

  static __device__ MergeTile of_block() { return {blockIdx.x, blockIdx.y}; }

  __device__ std::int64_t partial(const Params& params) const {
    return (query * kNumKvHeads + head / kGroup) * params.num_chunks * kGroup + head % kGroup;
  }

  __device__ std::int64_t out(int dim) const { return (query * kNumHeads + head) * kHeadDim + dim; }
};

// The state of one dim's chain. A chunk with the empty mark leaves it alone.
struct MergeChain {
  float l = 0.0F;
  float acc = 0.0F;

  __device__ void fold(float weight, float chunk_l, float chunk_acc) {
    l = fmaf(chunk_l, weight, l);
    acc = fmaf(chunk_acc, weight, acc);
  }

  __device__ float quotient() const { return l > 0.0F ? __fdiv_rn(acc, l) : 0.0F; }
};

template <class Exp>
__global__ void __launch_bounds__(kMergeThreads)
    qsa_decode_all_chunks_merge_kernel(const __grid_constant__ Params params) {
  const MergeTile tile = MergeTile::of_block();
  const int dim = static_cast<int>(threadIdx.x);
  const std::int64_t first = tile.partial(params);

  float max = kEmptyMark;
  for (int chunk = 0; chunk < params.num_chunks; ++chunk) {
    max = fmaxf(max, params.m[first + static_cast<std::int64_t>(chunk) * kGroup]);
  }

  MergeChain chain;
  for (int chunk = 0; chunk < params.num_chunks; ++chunk) {
    const std::int64_t partial = first + static_cast<std::int64_t>(chunk) * kGroup;
    const float m = params.m[partial];
    if (m == kEmptyMark) {
      continue;
    }
    chain.fold(Exp::of(__fsub_rn(m, max)), params.l[partial], params.acc[partial * kHeadDim + dim]);
  }
  params.out[tile.out(dim)] = chain.quotient();
}

// Chunks that the query's width reaches: those after them carry the empty mark.
__device__ inline int num_active_chunks(const Params& params, const MergeTile& tile) {
  const std::int32_t width = params.steps[tile.query * params.steps_stride + 3];
  if (width <= 0) {
    return 0;
  }
  const int reached = (width - 1) / kChunk + 1;
  return reached < params.num_chunks ? reached : params.num_chunks;
}

// Max of m over kBatch chunks from `chunk`; in the tail, those before `end`.
template <int kBatch, bool kIsTail>
__device__ inline float max_of_batch(
    const Params& params, std::int64_t first, int chunk, int end, float max) {
  float m[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const bool is_there = !kIsTail || chunk + i < end;
    const std::int64_t partial = first + static_cast<std::int64_t>(chunk + i) * kGroup;
    m[i] = is_there ? params.m[partial] : kEmptyMark;
  }
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    max = fmaxf(max, m[i]);
  }
  return max;
}

// Loads kBatch chunks at once, then folds them in order. An empty chunk's update is computed and
// discarded by a select, so that no load waits for a branch.
template <int kBatch, bool kIsTail, class Exp, Mutation kMutation>
__device__ inline void fold_batch(const Params& params,
                                  std::int64_t first,
                                  int chunk,
                                  int end,
                                  int dim,
                                  float max,
                                  MergeChain& chain) {
  float m[kBatch];
  float l[kBatch];
  float acc[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    int place = chunk + i;
    const bool is_there = !kIsTail || place < end;
    if constexpr (kMutation == Mutation::kMergeFoldsInReverse) {
      place = end - 1 - place;
    }
    const std::int64_t partial = first + static_cast<std::int64_t>(place) * kGroup;
    m[i] = is_there ? params.m[partial] : kEmptyMark;
    l[i] = is_there ? params.l[partial] : 0.0F;
    acc[i] = is_there ? params.acc[partial * kHeadDim + dim] : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    MergeChain folded = chain;
    bool is_live = m[i] != kEmptyMark;
    float weight = Exp::of(__fsub_rn(m[i], max));
    if constexpr (kMutation == Mutation::kMergeReadsPastBound) {
      const bool is_past = chunk + i == end - 1;
      weight = is_past ? 1.0F : weight;
      is_live = is_live || is_past;
    }
    folded.fold(weight, l[i], acc[i]);
    chain.l = is_live ? folded.l : chain.l;
    chain.acc = is_live ? folded.acc : chain.acc;
  }
}

template <int kBatch, class Exp, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(kMergeThreads)
    qsa_decode_bounded_merge_kernel(const __grid_constant__ Params params) {
  const MergeTile tile = MergeTile::of_block();
  const int dim = static_cast<int>(threadIdx.x);
  const std::int64_t first = tile.partial(params);
  int end = num_active_chunks(params, tile);
  if constexpr (kMutation == Mutation::kMergeStopsEarly) {
    end = end > 0 ? end - 1 : 0;
  } else if constexpr (kMutation == Mutation::kMergeReadsPastBound) {
    end = end < params.num_chunks ? end + 1 : end;
  }
  const int whole = end - end % kBatch;

  float max = kEmptyMark;
  for (int chunk = 0; chunk < whole; chunk += kBatch) {
    max = max_of_batch<kBatch, false>(params, first, chunk, end, max);
  }
  if (whole < end) {
    max = max_of_batch<kBatch, true>(params, first, whole, end, max);
  }

  MergeChain chain;
  for (int chunk = 0; chunk < whole; chunk += kBatch) {
    fold_batch<kBatch, false, Exp, kMutation>(params, first, chunk, end, dim, max, chain);
  }
  if (whole < end) {
    fold_batch<kBatch, true, Exp, kMutation>(params, first, whole, end, dim, max, chain);
  }

  if constexpr (kMutation == Mutation::kLeavesOutputTailUnwritten) {
    if (dim >= kHeadDim - 4) {
      return;
    }
  }
  params.out[tile.out(dim)] = chain.quotient();
}

}  // namespace assay::kernels::qsa_decode
