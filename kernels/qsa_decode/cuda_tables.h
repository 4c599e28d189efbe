// The CUDA rows of qsa_decode.
#pragma once

#include "kernels/cuda_operator.h"

namespace assay::kernels::qsa_decode {

inline constexpr int kNumCudaMutants = 14;
extern const CudaMutant kCudaMutants[kNumCudaMutants];

extern const CudaTables kCudaTables;

}  // namespace assay::kernels::qsa_decode
