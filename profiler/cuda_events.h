// CUDA events as a clock.
#pragma once

#include "profiler/cuda_handles.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::profiler {

// A new event, recorded on the stream.
absl::StatusOr<CudaEvent> record_event(cudaStream_t stream);

// Between two events that are over.
absl::StatusOr<std::int64_t> elapsed_ns(const CudaEvent& begin, const CudaEvent& end);

}  // namespace assay::profiler
