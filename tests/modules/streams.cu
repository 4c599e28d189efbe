// out = 2 x, launched where it should be and where it should not.
#include "simple.h"

#include <cuda_runtime.h>

namespace {

__global__ void double_kernel(std::size_t n, const float* x, float* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = 2 * x[i];
  }
}

// Through the entry point that takes launch attributes.
int launch_on(const assay_call* call, cudaStream_t stream) {
  std::size_t n = simple::num_elements(call);
  const float* x = simple::x_of(call);
  float* out = simple::out_of(call);
  void* arguments[] = {&n, &x, &out};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((n + 255) / 256));
  config.blockDim = dim3(256);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(double_kernel), arguments);
}

cudaStream_t private_stream() {
  static const cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  return stream;
}

int given(const assay_call* call, void* stream) {
  return launch_on(call, static_cast<cudaStream_t>(stream));
}

// Returns at once; nothing orders the work.
int elsewhere(const assay_call* call, void* /*stream*/) {
  return launch_on(call, private_stream());
}

// In order, so that the outputs are right: only the place of the work is wrong.
int elsewhere_in_order(const assay_call* call, void* stream) {
  static const auto event = [] {
    cudaEvent_t made = nullptr;
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    return made;
  }();
  const auto asked = static_cast<cudaStream_t>(stream);
  cudaEventRecord(event, asked);
  cudaStreamWaitEvent(private_stream(), event, 0);
  const int launched = launch_on(call, private_stream());
  cudaEventRecord(event, private_stream());
  cudaStreamWaitEvent(asked, event, 0);
  return launched;
}

int describe(const assay_call* call, assay_kernel* kernel) {
  kernel->name = "double_kernel";
  kernel->grid[0] = static_cast<uint32_t>((call->workload->values[0] + 255) / 256);
  kernel->grid[1] = kernel->grid[2] = 1;
  kernel->block[0] = 256;
  kernel->block[1] = kernel->block[2] = 1;
  cudaFunction_t function = nullptr;
  const cudaError_t found =
      cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(double_kernel));
  kernel->function = function;
  return found;
}

assay_stage stage(int (*launch)(const assay_call* call, void* stream)) {
  assay_stage stage = simple::stage(nullptr);
  stage.launch_cuda = launch;
  stage.describe = describe;
  return stage;
}

}  // namespace

ASSAY_MODULE_EXPORT const assay_module_table* assay_module() {
  static const assay_stage stages[] = {
      stage(given), stage(given), stage(elsewhere), stage(elsewhere_in_order)};
  static const assay_variant variants[] = {simple::variant("plain", &stages[0]),
                                           simple::variant("twin", &stages[1]),
                                           simple::variant("elsewhere", &stages[2]),
                                           simple::variant("elsewhere_in_order", &stages[3])};
  return simple::cuda_table_of(variants, 4);
}
