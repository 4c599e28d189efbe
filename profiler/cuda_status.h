// CUDA codes as absl::Status: the call's text and the code's own name.
#pragma once

#include "absl/status/status.h"

#include <cuda_runtime_api.h>

#include <string_view>

namespace assay::profiler {

absl::Status cuda_status(cudaError_t error, std::string_view call);

}  // namespace assay::profiler

// Returns from the enclosing function unless the call succeeds.
#define ASSAY_RETURN_IF_CUDA_ERROR(call)                                      \
  do {                                                                        \
    if (const cudaError_t assay_error = (call); assay_error != cudaSuccess) { \
      return ::assay::profiler::cuda_status(assay_error, #call);              \
    }                                                                         \
  } while (false)
