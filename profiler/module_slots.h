// Launchers and rules of an operator's tables are plain functions that are given no context, so a
// module's are reached by number: trampoline N looks here for what it stands for. One module a
// process.
#pragma once

#include "profiler/module_problem.h"
#include "profiler/module_table.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <vector>

namespace assay::profiler {

inline constexpr std::size_t kMostModuleStages = 128;

class ModuleOperatorTables;

struct ModuleSlots {
  struct StageSlot {
    const ModuleVariant* variant = nullptr;
    const assay_stage* stage = nullptr;
  };

  std::vector<StageSlot> stages;
  std::vector<const ModuleOperatorTables*> operators;
};

// RESOURCE_EXHAUSTED: none is left. Both outlive the slots.
absl::StatusOr<std::size_t> add_stage_slot(ModuleSlots& slots,
                                           const ModuleVariant& variant,
                                           const assay_stage& stage);

// The slots of the module that is loaded; set by ModuleLibrary alone.
ModuleSlots*& module_slots();

// The call as the module gets it; what it points to must outlive it.
inline assay_call module_call(const ModuleSlots::StageSlot& slot,
                              const kernels::Call& call,
                              assay_error* error) {
  // Only problems of modules meet stages of modules.
  const auto& problem = static_cast<const ModuleProblem&>(*call.problem);
  return {.size = sizeof(assay_call),
          .workload = &problem.workload(),
          .tensors = call.tensors,
          .num_tensors = problem.tensors().size(),
          .parameters = call.parameters.values.data(),
          .num_parameters = slot.variant->parameters.size(),
          .error = error};
}

// What a backend's table says of a variant, but for its stages.
template <class Launch>
kernels::VariantRow<Launch> variant_row(const ModuleVariant& variant) {
  kernels::VariantRow<Launch> row;
  row.name = variant.row.name;
  row.idea = text_or_empty(variant.row.idea);
  row.family = variant.row.family == nullptr ? kernels::kBaselineFamily : variant.row.family;
  row.min_compute_capability = variant.row.min_compute_capability;
  return row;
}

}  // namespace assay::profiler
