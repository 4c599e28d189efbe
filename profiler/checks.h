// The items of an operator's check suites: cases compared by bytes between the baseline and other
// arms, invariances of the call, and mutants that the checks must reject. A refused status
// (session.h) is harmless.
#pragma once

#include "kernels/operator.h"
#include "profiler/check_arms.h"
#include "profiler/invariance_check.h"
#include "profiler/mutant_check.h"
#include "profiler/session.h"
#include "proto/assay.pb.h"
#include "proto/runner.pb.h"

#include "absl/status/statusor.h"

namespace assay::profiler {

absl::StatusOr<v1::CheckResult> run_check(RunnerState& state,
                                          const kernels::Operator& op,
                                          const v1::RunnerCheck& request,
                                          const ProgressSink& progress);

}  // namespace assay::profiler
