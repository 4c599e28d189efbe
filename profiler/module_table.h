// A module's table, read from kernels/module.h and checked: every size, name and callback that is
// used later. Rows are copied, so that a module made for shorter structs reads as one whose newer
// fields are null; texts and callbacks stay the module's.
#pragma once

#include "kernels/module.h"

#include "absl/status/statusor.h"

#include <string_view>
#include <vector>

namespace assay::profiler {

// Rows of one variant.
struct ModuleVariant {
  assay_variant row = {};
  std::vector<assay_axis> parameters;
  std::vector<assay_stage> stages;
};

struct ModuleOperator {
  assay_operator row = {};
  std::vector<assay_axis> axes;
  std::vector<assay_tensor> tensors;
  std::vector<ModuleVariant> cpu_variants;
  std::vector<ModuleVariant> cuda_variants;
  std::vector<assay_named_workload> workloads;
};

// Most of an operator's rows of one kind, and most operators of a module.
inline constexpr std::size_t kMostModuleRows = 64;
inline constexpr std::size_t kMostModuleOperators = 16;

// INVALID_ARGUMENT names the row and field: `operators[0].tensors[1].shape: must not be null`;
// FAILED_PRECONDITION: made for another ABI.
absl::StatusOr<std::vector<ModuleOperator>> read_module_table(const assay_module_table* table);

// A text that may be null.
inline std::string_view text_or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace assay::profiler
