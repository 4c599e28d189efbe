// The CUDA rows of tree_attention.
#pragma once

#include "kernels/cuda_operator.h"

namespace assay::kernels::tree_attention {

inline constexpr int kNumCudaMutants = 16;
extern const CudaMutant kCudaMutants[kNumCudaMutants];

extern const CudaTables kCudaTables;

}  // namespace assay::kernels::tree_attention
