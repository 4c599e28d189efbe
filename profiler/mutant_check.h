// One mutant as an item of a check: on the workload that shows its defect, a check must reject it.
#pragma once

#include "kernels/operator.h"
#include "profiler/session.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace assay::profiler {

// The suite that every operator with mutants has; its items are the mutants.
inline constexpr std::string_view kMutantSuite = "mutants";

absl::StatusOr<v1::CheckResult> run_mutant(RunnerState& state,
                                           const kernels::Operator& op,
                                           const std::string& name);

}  // namespace assay::profiler
