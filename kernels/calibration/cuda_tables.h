// The CUDA rows of calibration.
#pragma once

#include "kernels/cuda_operator.h"

namespace assay::kernels::calibration {

extern const CudaTables kCudaTables;

}  // namespace assay::kernels::calibration
