// One invariance as an item of a check: pairs of calls whose bits must be the same, for each arm at
// hand. The pairs go from the smallest up, so the first that differs is the smallest.
#pragma once

#include "kernels/operator.h"
#include "profiler/check_arms.h"
#include "profiler/session.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string_view>

namespace assay::profiler {

// The suite that every operator with invariances has; its items are the invariances.
inline constexpr std::string_view kInvarianceSuite = "invariances";

// Pairs whose arms or problems this device does not hold are left out and said so. Where none ran,
// the result has no cases and passes.
absl::StatusOr<v1::CheckResult> run_invariance(RunnerState& state,
                                               const kernels::Operator& op,
                                               const kernels::Invariance& invariance,
                                               const ProgressSink& progress);

}  // namespace assay::profiler
