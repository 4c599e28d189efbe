#include "profiler/cuda_status.h"

#include "absl/strings/str_cat.h"

#include <string>

namespace assay::profiler {

absl::Status cuda_status(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) {
    return absl::OkStatus();
  }
  const std::string message = absl::StrCat(
      std::string(call), ": ", cudaGetErrorName(error), ": ", cudaGetErrorString(error));
  switch (error) {
    case cudaErrorMemoryAllocation:
      return absl::ResourceExhaustedError(message);
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
      return absl::InvalidArgumentError(message);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace assay::profiler
