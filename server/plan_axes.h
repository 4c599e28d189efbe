// The axes of an experiment: of the workload, or launch parameters of its arms.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace assay::server {

// Indices into spec.axes().
struct AxisRoles {
  std::vector<int> of_workload;
  std::vector<int> of_parameters;
};

// Whether the axis reaches the arm: its variant has the parameter and the arm leaves it open.
bool reaches(const v1::OperatorInfo& info, const v1::Arm& arm, const std::string& name);

// Adds a SWEEP's own axes, checks all and puts their values into the one spelling. Requires arms
// that plan_arms() has passed; errors name the field by path.
absl::StatusOr<AxisRoles> plan_axes(const v1::OperatorInfo& info, v1::ExperimentSpec& spec);

}  // namespace assay::server
