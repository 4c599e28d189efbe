// The kernels of block_attention: bodies with their launch bounds.
#pragma once

#include "kernels/block_attention/cuda_staged.cuh"

namespace assay::kernels::block_attention {

template <int kDim>
__global__ void __launch_bounds__(attention::kLanes)
    block_attention_direct_kernel(const __grid_constant__ Params params) {
  attend_direct_block<kDim>(params);
}

template <int kDim>
__global__ void __launch_bounds__(kDim)
    block_attention_direct_merge_kernel(const __grid_constant__ Params params) {
  merge_direct_block<kDim>(params);
}

template <class Exp, int kDim, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(attention::kSlices* attention::kLanes, 2)
    block_attention_staged_kernel(const __grid_constant__ Params params,
                                  const __grid_constant__ StagedGrid grid) {
  attend_staged_block<Exp, kDim, kMutation>(params, grid);
}

template <int kBatch, int kDim, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(attention::kMostMergeWarps* attention::kLanes)
    block_attention_merge_kernel(const __grid_constant__ Params params,
                                 const __grid_constant__ MergePlan plan) {
  merge_block<kBatch, kDim, kMutation>(params, plan);
}

}  // namespace assay::kernels::block_attention
