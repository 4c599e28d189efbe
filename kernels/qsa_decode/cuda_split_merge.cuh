// The bounded merge with a head's dims split over several blocks: each weighs the chunks once, all
// threads together, then its threads fold with nothing but loads of acc in flight.
#pragma once

#include "kernels/qsa_decode/cuda_merge.cuh"

namespace assay::kernels::qsa_decode {

inline constexpr int kMostSplitThreads = kHeadDim / 2;
inline constexpr int kWeighedChunks = 512;
inline constexpr float kNoWeight = -1.0F;  // of a chunk with the empty mark

// The largest m of the head, by all threads of the block.
__device__ inline float max_of_head(const Params& params, std::int64_t first, int end) {
  __shared__ float warp_maxima[kMostSplitThreads / kLanes];
  const int thread = static_cast<int>(threadIdx.x);
  const int num_threads = static_cast<int>(blockDim.x);
  float max = kEmptyMark;
#pragma unroll 4
  for (int chunk = thread; chunk < end; chunk += num_threads) {
    max = fmaxf(max, __ldg(params.m + first + static_cast<std::int64_t>(chunk) * kGroup));
  }
  max = warp_max(max);
  if (thread % kLanes == 0) {
    warp_maxima[thread / kLanes] = max;
  }
  __syncthreads();
  for (int warp = 0; warp < num_threads / kLanes; ++warp) {
    max = fmaxf(max, warp_maxima[warp]);
  }
  return max;
}

// Folds kBatch chunks, in the tail `count` of them; their loads are in flight together, as none
// waits for a branch.
template <int kBatch, bool kIsTail>
__device__ inline void fold_weighed(
    const float* acc, const float* weights, const float* ls, int count, MergeChain& chain) {
  float values[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const bool is_there = !kIsTail || i < count;
    values[i] = is_there ? __ldg(acc + static_cast<std::int64_t>(i) * kGroup * kHeadDim) : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const bool is_there = !kIsTail || i < count;
    const float weight = is_there ? weights[i] : kNoWeight;
    MergeChain folded = chain;
    folded.fold(weight, is_there ? ls[i] : 0.0F, values[i]);
    chain.l = weight >= 0.0F ? folded.l : chain.l;
    chain.acc = weight >= 0.0F ? folded.acc : chain.acc;
  }
}

template <int kBatch, class Exp>
__global__ void __launch_bounds__(kMostSplitThreads)
    qsa_decode_split_merge_kernel(const __grid_constant__ Params params) {
  __shared__ float weights[kWeighedChunks];
  __shared__ float ls[kWeighedChunks];
  const MergeTile tile = MergeTile::of_block();
  const int thread = static_cast<int>(threadIdx.x);
  const int num_threads = static_cast<int>(blockDim.x);
  const int dim = static_cast<int>(blockIdx.z) * num_threads + thread;
  const std::int64_t first = tile.partial(params);
  const int end = num_active_chunks(params, tile);
  const float max = max_of_head(params, first, end);

  MergeChain chain;
  for (int base = 0; base < end; base += kWeighedChunks) {
    const int count = end - base < kWeighedChunks ? end - base : kWeighedChunks;
    __syncthreads();
#pragma unroll 4
    for (int i = thread; i < count; i += num_threads) {
      const std::int64_t partial = first + static_cast<std::int64_t>(base + i) * kGroup;
      const float m = __ldg(params.m + partial);
      weights[i] = m == kEmptyMark ? kNoWeight : Exp::of(__fsub_rn(m, max));
      ls[i] = __ldg(params.l + partial);
    }
    __syncthreads();
    const float* acc =
        params.acc + (first + static_cast<std::int64_t>(base) * kGroup) * kHeadDim + dim;
    constexpr std::int64_t kChunkFloats = kGroup * kHeadDim;
    int i = 0;
    for (; i + kBatch <= count; i += kBatch) {
      fold_weighed<kBatch, false>(acc + i * kChunkFloats, weights + i, ls + i, kBatch, chain);
    }
    if (i < count) {
      fold_weighed<kBatch, true>(acc + i * kChunkFloats, weights + i, ls + i, count - i, chain);
    }
  }
  params.out[tile.out(dim)] = chain.quotient();
}

}  // namespace assay::kernels::qsa_decode
