// An arm of a request, looked up in an operator's table on one backend and made callable without
// knowing the backend.
#pragma once

#include "kernels/operator.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::profiler {

struct StagePlan {
  std::string name;
  // Runs on cpu; enqueues on CUDA.
  std::function<absl::Status(const kernels::Call&)> launch;
  // What the launch asks of the device; null where the backend cannot tell.
  std::function<absl::StatusOr<v1::KernelResources>(const kernels::Call&)> describe;
  // Stands for the machine code: the launchers' addresses within the program.
  std::vector<std::uintptr_t> code;
};

struct ArmPlan {
  v1::Arm arm;  // with all parameters, in the variant's order
  std::string family;
  kernels::LaunchParameters parameters;
  bool (*leaves)(const kernels::LaunchParameters& parameters, std::size_t tensor) = nullptr;
  std::vector<StagePlan> stages;

  // Whether this form leaves the intermediate unwritten.
  bool leaves_unwritten(std::size_t tensor) const {
    return leaves != nullptr && leaves(parameters, tensor);
  }
};

// What stands for kernels::kArchitecture on a device, and the domain of a family of its own.
struct BitsDomains {
  std::string architecture;  // "sm_90"; on cpu "cpu"
  std::string own_family;    // with the toolkit
};

// All parameters of `given`, defaults filled in. NOT_FOUND and INVALID_ARGUMENT name the variant
// and the parameter.
absl::StatusOr<std::vector<kernels::Setting>> complete_parameters(
    std::string_view variant, std::span<const kernels::AxisInfo> axes, const v1::Arm& given);

// Settings as a launcher reads them.
kernels::LaunchParameters launch_parameters(std::span<const kernels::AxisInfo> axes,
                                            std::span<const kernels::Setting> settings);

// Where a variant's bits are promised equal, as kernels/operator.h says.
std::string bits_domain_of(std::string_view of_row,
                           std::string_view family,
                           std::string_view of_operator,
                           const BitsDomains& domains);

// "8.0" for 80.
std::string capability_text(int compute_capability);

// FAILED_PRECONDITION when the device, 75 for 7.5, is older than the variant needs.
absl::Status check_compute_capability(std::string_view variant, int needed, int has);

// A workload with all axes, checked by the operator's own rules.
absl::StatusOr<kernels::Workload> complete_workload(const kernels::Operator& op,
                                                    const v1::Workload& given);

v1::Workload workload_message(const kernels::Workload& workload, std::string_view name);

// Axis values as a request gives them, with the seed 0.
v1::Workload settings_workload(std::span<const std::pair<std::string_view, std::string_view>> axes);

v1::AxisInfo axis_message(const kernels::AxisInfo& axis);

// The operator without its variants and mutants, which are the backend's.
v1::OperatorInfo operator_message(const kernels::Operator& op);

// Null when no row has that name.
template <class Row>
const Row* find_row(std::span<const Row> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

// NOT_FOUND lists the names.
template <class Row>
absl::Status no_such_row(std::string_view kind, std::span<const Row> rows, std::string_view name) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.emplace_back(row.name);
  }
  std::ranges::sort(names);
  std::string list;
  for (const std::string& valid : names) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", valid);
  }
  return absl::NotFoundError(
      absl::StrCat("no ", std::string(kind), " `", std::string(name), "`; valid: ", list));
}

// `bind` turns a row's stage into a StagePlan.
template <class Launch, class Bind>
std::vector<StagePlan> bind_stages(std::span<const kernels::Stage<Launch>> stages, Bind bind) {
  std::vector<StagePlan> plans;
  for (const kernels::Stage<Launch>& stage : stages) {
    plans.push_back(bind(stage));
    plans.back().name = std::string(stage.name);
  }
  return plans;
}

// `compute_capability` is the device's; 0 on cpu.
template <class Launch, class Bind>
absl::StatusOr<ArmPlan> plan_variant(std::span<const kernels::VariantRow<Launch>> rows,
                                     const v1::Arm& arm,
                                     int compute_capability,
                                     Bind bind) {
  const kernels::VariantRow<Launch>* row = find_row(rows, arm.variant());
  if (row == nullptr) {
    return no_such_row("variant", rows, arm.variant());
  }
  if (const absl::Status status =
          check_compute_capability(row->name, row->min_compute_capability, compute_capability);
      !status.ok()) {
    return status;
  }
  auto settings = complete_parameters(row->name, row->parameters, arm);
  if (!settings.ok()) {
    return settings.status();
  }
  ArmPlan plan;
  plan.arm.set_variant(std::string(row->name));
  for (const auto& [name, value] : *settings) {
    v1::Setting& parameter = *plan.arm.add_parameters();
    parameter.set_name(name);
    parameter.set_value(value);
  }
  plan.family = std::string(row->family);
  plan.parameters = launch_parameters(row->parameters, *settings);
  plan.leaves = row->leaves;
  if (row->available != nullptr) {
    if (const absl::Status status = row->available(plan.parameters); !status.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("variant `", arm.variant(), "`: ", std::string(status.message())));
    }
  }
  plan.stages = bind_stages(row->stages, bind);
  return plan;
}

// A mutant as an arm of the baseline family; it has no parameters to set. It needs what the variant
// needs that it is planted in, and leaves what that leaves.
template <class Launch, class Bind>
absl::StatusOr<ArmPlan> plan_mutant_row(std::span<const kernels::MutantRow<Launch>> mutants,
                                        std::span<const kernels::VariantRow<Launch>> variants,
                                        std::string_view name,
                                        int compute_capability,
                                        Bind bind) {
  const kernels::MutantRow<Launch>* found = find_row(mutants, name);
  if (found == nullptr) {
    return no_such_row("mutant", mutants, name);
  }
  const kernels::MutantRow<Launch>& row = *found;
  const kernels::VariantRow<Launch>* planted = find_row(variants, row.variant);
  if (planted != nullptr) {
    if (const absl::Status status =
            check_compute_capability(row.name, planted->min_compute_capability, compute_capability);
        !status.ok()) {
      return status;
    }
  }
  v1::Arm arm;
  auto settings = complete_parameters(row.name, row.parameters, arm);
  if (!settings.ok()) {
    return settings.status();
  }
  ArmPlan plan;
  plan.arm.set_variant(std::string(row.name));
  plan.family = std::string(kernels::kBaselineFamily);
  plan.parameters = launch_parameters(row.parameters, *settings);
  plan.leaves = planted == nullptr ? nullptr : planted->leaves;
  plan.stages = bind_stages(row.stages, bind);
  return plan;
}

// Adds rows to an operator's description, whose own bits domain is then the baseline's.
template <class Launch>
void describe_rows(std::span<const kernels::VariantRow<Launch>> variants,
                   std::span<const kernels::MutantRow<Launch>> mutants,
                   const BitsDomains& domains,
                   v1::OperatorInfo& info) {
  const std::string of_operator = info.bits_domain();
  for (const kernels::VariantRow<Launch>& row : variants) {
    v1::VariantInfo& variant = *info.add_variants();
    variant.set_name(std::string(row.name));
    variant.set_idea(std::string(row.idea));
    variant.set_family(std::string(row.family));
    variant.set_bits_domain(bits_domain_of(row.bits_domain, row.family, of_operator, domains));
    for (const kernels::AxisInfo& axis : row.parameters) {
      *variant.add_parameters() = axis_message(axis);
    }
    for (const kernels::Stage<Launch>& stage : row.stages) {
      variant.add_stages(std::string(stage.name));
    }
    if (row.min_compute_capability > 0) {
      variant.set_min_compute_capability(capability_text(row.min_compute_capability));
    }
  }
  if (!info.variants().empty()) {
    info.set_bits_domain(info.variants(0).bits_domain());
  }
  for (const kernels::MutantRow<Launch>& row : mutants) {
    v1::MutantInfo& mutant = *info.add_mutants();
    mutant.set_name(std::string(row.name));
    mutant.set_defect(std::string(row.defect));
    mutant.set_variant(std::string(row.variant));
    v1::CheckInfo& check = *info.add_checks();
    check.set_suite("mutants");
    check.set_name(std::string(row.name));
    check.set_help(std::string(row.defect));
  }
}

}  // namespace assay::profiler
