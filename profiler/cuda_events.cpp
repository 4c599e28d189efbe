#include "profiler/cuda_events.h"

#include "profiler/cuda_status.h"

#include <cmath>

namespace assay::profiler {

absl::StatusOr<CudaEvent> record_event(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaEventCreate(&event));
  CudaEvent owner(event);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaEventRecord(event, stream));
  return owner;
}

absl::StatusOr<std::int64_t> elapsed_ns(const CudaEvent& begin, const CudaEvent& end) {
  float elapsed_ms = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaEventElapsedTime(&elapsed_ms, begin.get(), end.get()));
  return std::llround(static_cast<double>(elapsed_ms) * 1e6);
}

}  // namespace assay::profiler
