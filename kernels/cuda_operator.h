// The CUDA side of the catalogue: variant and mutant rows whose stages launch on a stream.
// A launcher checks the shape, launches and returns cudaGetLastError(); it never allocates, waits
// or prints. Everything it depends on is known to the host, so that a call can be captured.
#pragma once

#include "kernels/operator.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>

namespace assay::kernels {

// What one launch of a stage asks of the device.
struct CudaKernelInfo {
  std::string name;  // as the launcher records it in Call::trace
  dim3 grid = {};
  dim3 block = {};
  cudaFuncAttributes attributes = {};  // registers, static shared, local and constant bytes
  const void* function = nullptr;      // as the runtime knows it
  std::int64_t dynamic_shared_bytes = 0;
};

// Fills in what the kernel's code says of itself.
template <class Kernel>
cudaError_t describe_code(Kernel* kernel, CudaKernelInfo* info) {
  info->function = reinterpret_cast<const void*>(kernel);
  return cudaFuncGetAttributes(&info->attributes, kernel);
}

// A stage's launcher and its description. `describe` launches nothing and needs only the problem
// and the parameters of a call, no tensors.
struct CudaLaunch {
  cudaError_t (*run)(const Call& call, cudaStream_t stream) = nullptr;
  cudaError_t (*describe)(const Call& call, CudaKernelInfo* info) = nullptr;

  cudaError_t operator()(const Call& call, cudaStream_t stream) const { return run(call, stream); }
};

using CudaStage = Stage<CudaLaunch>;
using CudaVariant = VariantRow<CudaLaunch>;
using CudaMutant = MutantRow<CudaLaunch>;

struct CudaTables {
  std::span<const CudaVariant> variants;  // row 0 is the baseline
  std::span<const CudaMutant> mutants;
};

}  // namespace assay::kernels
