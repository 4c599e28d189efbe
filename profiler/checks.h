// The items of an operator's check suites: cases compared by bytes between the baseline and other
// arms, and mutants that the checks must reject. A refused status (session.h) is harmless.
#pragma once

#include "kernels/operator.h"
#include "profiler/session.h"
#include "proto/assay.pb.h"
#include "proto/runner.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <string>

namespace assay::profiler {

// The suite that every operator with mutants has; its items are the mutants.
inline constexpr std::string_view kMutantSuite = "mutants";

// From 0 to 1, and the case at hand. Called often; an error ends the check.
using ProgressSink = std::function<absl::Status(double progress, const std::string& message)>;

absl::StatusOr<v1::CheckResult> run_check(RunnerState& state,
                                          const kernels::Operator& op,
                                          const v1::RunnerCheck& request,
                                          const ProgressSink& progress);

}  // namespace assay::profiler
