// One item of a suite: many cases, each compared by bytes between the baseline and other arms.
#pragma once

#include "kernels/operator.h"
#include "profiler/check_arms.h"
#include "profiler/session.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

namespace assay::profiler {

// Arms and cases that this device cannot run are left out and said so.
absl::StatusOr<v1::CheckResult> run_suite(RunnerState& state,
                                          const kernels::Operator& op,
                                          const kernels::CaseSuite& suite,
                                          const ProgressSink& progress);

}  // namespace assay::profiler
