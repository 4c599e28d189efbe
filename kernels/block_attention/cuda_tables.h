// The CUDA rows of block_attention.
#pragma once

#include "kernels/cuda_operator.h"

namespace assay::kernels::block_attention {

inline constexpr int kNumCudaMutants = 9;
extern const CudaMutant kCudaMutants[kNumCudaMutants];

extern const CudaTables kCudaTables;

}  // namespace assay::kernels::block_attention
