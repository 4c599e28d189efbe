// The kernels of tree_attention: bodies with their launch bounds.
#pragma once

#include "kernels/tree_attention/cuda_staged.cuh"
#include "kernels/tree_attention/cuda_wide.cuh"

namespace assay::kernels::tree_attention {

template <int kDim>
__global__ void __launch_bounds__(attention::kLanes)
    tree_attention_direct_kernel(const __grid_constant__ Params params) {
  attend_direct_block<kDim>(params);
}

template <int kDim>
__global__ void __launch_bounds__(kDim)
    tree_attention_direct_merge_kernel(const __grid_constant__ Params params) {
  merge_direct_block<kDim>(params);
}

// Two blocks an SM are what the staged forms count on.
template <class Exp, int kDim, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(attention::kSlices* attention::kLanes, 2)
    tree_attention_staged_kernel(const __grid_constant__ Params params,
                                 const __grid_constant__ StagedGrid grid) {
  attend_staged_block<Exp, kDim, kMutation>(params, grid);
}

template <class Exp, int kDim>
__global__ void __launch_bounds__(attention::kMostWideWarps* attention::kLanes)
    tree_attention_wide_kernel(const __grid_constant__ Params params,
                               const __grid_constant__ WideGrid grid) {
  attend_wide_block<Exp, kDim>(params, grid);
}

template <int kBatch, int kDim, Mutation kMutation = Mutation::kNone>
__global__ void __launch_bounds__(attention::kMostMergeWarps* attention::kLanes)
    tree_attention_merge_kernel(const __grid_constant__ Params params,
                                const __grid_constant__ MergePlan plan) {
  merge_block<kBatch, kDim, kMutation>(params, plan);
}

}  // namespace assay::kernels::tree_attention
