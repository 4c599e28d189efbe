// The CUDA tables of a module's operator; where there is no CUDA backend, none.
#pragma once

#include "kernels/operator.h"
#include "profiler/module_table.h"

#include "absl/status/statusor.h"

#include <memory>
#include <vector>

namespace assay::profiler {

struct ModuleSlots;

class ModuleCudaTables {
 public:
  // Null without variants or without the backend. RESOURCE_EXHAUSTED as add_stage_slot().
  // `variants` outlives it.
  static absl::StatusOr<std::unique_ptr<ModuleCudaTables>> make(
      const std::vector<ModuleVariant>& variants, ModuleSlots& slots);
  ModuleCudaTables(const ModuleCudaTables&) = delete;
  ModuleCudaTables& operator=(const ModuleCudaTables&) = delete;
  virtual ~ModuleCudaTables() = default;

  virtual const kernels::CudaTables* tables() const = 0;

 protected:
  ModuleCudaTables() = default;
};

}  // namespace assay::profiler
