#include "server/plan_axes.h"

#include "proto/status.h"
#include "server/field_errors.h"
#include "server/lookup.h"
#include "server/settings.h"
#include "server/sweep_axes.h"

#include "absl/strings/str_cat.h"

#include <set>

namespace assay::server {
namespace {

const v1::AxisInfo* parameter_of(const v1::OperatorInfo& info,
                                 const v1::Arm& arm,
                                 const std::string& name) {
  return find_axis(find_named(info.variants(), arm.variant())->parameters(), name);
}

absl::Status check_values(v1::Axis& axis, const v1::AxisInfo& info, const std::string& path) {
  for (int i = 0; i < axis.values_size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        const std::string value,
        canonical_value(info, axis.values(i), absl::StrCat(path, ".values[", i, "]")));
    axis.set_values(i, value);
  }
  return absl::OkStatus();
}

absl::Status check_parameter_axis(const v1::OperatorInfo& info,
                                  const v1::ExperimentSpec& spec,
                                  v1::Axis& axis,
                                  const std::string& path) {
  std::vector<const v1::Arm*> arms;
  if (spec.kind() != v1::SWEEP) {
    arms.push_back(&spec.baseline());
  }
  for (const v1::Arm& candidate : spec.candidates()) {
    arms.push_back(&candidate);
  }
  std::set<std::string> valid;
  for (const v1::AxisInfo& axis_info : info.axes()) {
    valid.insert(axis_info.name());
  }
  bool known = false;
  bool reached = false;
  for (const v1::Arm* arm : arms) {
    for (const v1::AxisInfo& parameter :
         find_named(info.variants(), arm->variant())->parameters()) {
      valid.insert(parameter.name());
    }
    if (const v1::AxisInfo* parameter = parameter_of(info, *arm, axis.name())) {
      known = true;
      if (reaches(info, *arm, axis.name())) {
        reached = true;
        ASSAY_RETURN_IF_ERROR(check_values(axis, *parameter, path));
      }
    }
  }
  if (!known) {
    return not_found(path + ".name",
                     "workload axis, nor launch parameter of an arm,",
                     axis.name(),
                     {valid.begin(), valid.end()});
  }
  if (!reached) {
    return refuse(path + ".name",
                  absl::StrCat("every arm that has `", axis.name(), "` sets it itself"));
  }
  return absl::OkStatus();
}

}  // namespace

bool reaches(const v1::OperatorInfo& info, const v1::Arm& arm, const std::string& name) {
  return parameter_of(info, arm, name) != nullptr && find_named(arm.parameters(), name) == nullptr;
}

absl::StatusOr<AxisRoles> plan_axes(const v1::OperatorInfo& info, v1::ExperimentSpec& spec) {
  if (spec.kind() == v1::SWEEP) {
    add_sweep_axes(info, spec);
  }
  AxisRoles roles;
  std::set<std::string> seen;
  for (int i = 0; i < spec.axes_size(); ++i) {
    v1::Axis& axis = *spec.mutable_axes(i);
    const std::string path = absl::StrCat("spec.axes[", i, "]");
    if (!seen.insert(axis.name()).second) {
      return refuse(path + ".name", absl::StrCat("`", axis.name(), "` is given twice"));
    }
    if (axis.values().empty()) {
      return refuse(path + ".values", "must have at least one value");
    }
    // The name of a workload axis hides a launch parameter of the same name.
    if (const v1::AxisInfo* axis_info = find_axis(info.axes(), axis.name())) {
      ASSAY_RETURN_IF_ERROR(check_values(axis, *axis_info, path));
      roles.of_workload.push_back(i);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(check_parameter_axis(info, spec, axis, path));
    roles.of_parameters.push_back(i);
  }
  return roles;
}

}  // namespace assay::server
