// The CUDA side of the catalogue: variant and mutant rows whose stages launch on a stream.
// A launcher checks the shape, launches and returns cudaGetLastError(); it never allocates, waits
// or prints.
#pragma once

#include "kernels/operator.h"

#include <cuda_runtime_api.h>

#include <span>

namespace assay::kernels {

using CudaLaunch = cudaError_t (*)(const Call& call, cudaStream_t stream);
using CudaVariant = VariantRow<CudaLaunch>;
using CudaMutant = MutantRow<CudaLaunch>;

struct CudaTables {
  std::span<const CudaVariant> variants;  // row 0 is the baseline
  std::span<const CudaMutant> mutants;
};

}  // namespace assay::kernels
