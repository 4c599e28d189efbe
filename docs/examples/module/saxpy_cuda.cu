// The CUDA variants of saxpy: a thread for each element, and four elements a thread. Launched
// through the extended entry point, on the stream that the call is given and on no other.
#include "saxpy.h"

#include <cuda_runtime.h>

namespace {

constexpr unsigned kThreads = 256;

template <int kPerThread>
__global__ void saxpy_kernel(
    int64_t n, float a, const float* __restrict__ x, const float* __restrict__ y, float* out) {
  const int64_t first = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kPerThread;
  for (int64_t i = first; i < first + kPerThread && i < n; ++i) {
    out[i] = a * x[i] + y[i];
  }
}

template <int kPerThread>
unsigned num_blocks(const assay_call* call) {
  constexpr int64_t kPerBlock = int64_t{kThreads} * kPerThread;
  return static_cast<unsigned>((call->workload->values[SAXPY_N] + kPerBlock - 1) / kPerBlock);
}

template <int kPerThread>
int launch(const assay_call* call, void* stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(num_blocks<kPerThread>(call));
  config.blockDim = dim3(kThreads);
  config.stream = static_cast<cudaStream_t>(stream);
  return cudaLaunchKernelEx(&config,
                            saxpy_kernel<kPerThread>,
                            call->workload->values[SAXPY_N],
                            static_cast<float>(call->workload->values[SAXPY_A]),
                            static_cast<const float*>(call->tensors[SAXPY_X]),
                            static_cast<const float*>(call->tensors[SAXPY_Y]),
                            static_cast<float*>(call->tensors[SAXPY_OUT]));
}

template <int kPerThread>
int describe(const assay_call* call, assay_kernel* kernel) {
  kernel->name = "saxpy_kernel";
  kernel->grid[0] = num_blocks<kPerThread>(call);
  kernel->grid[1] = kernel->grid[2] = 1;
  kernel->block[0] = kThreads;
  kernel->block[1] = kernel->block[2] = 1;
  cudaFunction_t function = nullptr;
  const void* symbol = reinterpret_cast<const void*>(&saxpy_kernel<kPerThread>);
  const cudaError_t found = cudaGetFuncBySymbol(&function, symbol);
  kernel->function = function;
  return found;
}

const assay_stage kOneEach[] = {{sizeof(assay_stage), "saxpy", nullptr, launch<1>, describe<1>}};
const assay_stage kFourEach[] = {{sizeof(assay_stage), "saxpy", nullptr, launch<4>, describe<4>}};

}  // namespace

extern "C" {

const assay_variant saxpy_cuda_variants[] = {
    {sizeof(assay_variant),
     "one_each",
     "a thread for each element",
     nullptr,
     nullptr,
     0,
     kOneEach,
     1,
     75},
    {sizeof(assay_variant),
     "four_each",
     "four elements a thread",
     nullptr,
     nullptr,
     0,
     kFourEach,
     1,
     75},
};
const size_t saxpy_num_cuda_variants = 2;
}
