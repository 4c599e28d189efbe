// What a SWEEP walks: the axes of its candidate's launch parameters, and the points of a workload.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/points.h"

#include "absl/status/statusor.h"

#include <span>
#include <string>

namespace assay::server {

// Adds an axis for each launch parameter that the one candidate leaves open, where `spec` has none
// that is not of the workload: every choice, of an integer the powers of two in its range, its ends
// and its default. Requires the candidate's variant to be there.
void add_sweep_axes(const v1::OperatorInfo& info, v1::ExperimentSpec& spec);

// As tuning::sweep_points(); restrictions may also name the workload's axes and the parameters of
// `defaults` that are no axis.
absl::StatusOr<tuning::PointSet> points_of_workload(std::span<const v1::Axis> axes,
                                                    const v1::Workload& workload,
                                                    const v1::Arm& defaults,
                                                    std::span<const std::string> restrictions);

}  // namespace assay::server
