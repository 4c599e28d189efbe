#include "profiler/device.h"

namespace assay::profiler {

absl::StatusOr<std::unique_ptr<Device>> make_cuda_device(int /*ordinal*/) {
  return absl::UnavailableError("built without CUDA");
}

}  // namespace assay::profiler
