#include "profiler/module_cuda.h"

namespace assay::profiler {

absl::StatusOr<std::unique_ptr<ModuleCudaTables>> ModuleCudaTables::make(
    const std::vector<ModuleVariant>& /*variants*/, ModuleSlots& /*slots*/) {
  return nullptr;
}

}  // namespace assay::profiler
