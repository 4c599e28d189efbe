#include "profiler/checks.h"

#include "profiler/suite_check.h"

#include "absl/strings/str_cat.h"

#include <string>

namespace assay::profiler {

absl::StatusOr<v1::CheckResult> run_check(RunnerState& state,
                                          const kernels::Operator& op,
                                          const v1::RunnerCheck& request,
                                          const ProgressSink& progress) {
  if (request.suite() == kMutantSuite) {
    return run_mutant(state, op, request.name());
  }
  std::string valid;
  for (const kernels::CaseSuite& suite : op.suites) {
    if (suite.suite == request.suite() && suite.name == request.name()) {
      return run_suite(state, op, suite, progress);
    }
    absl::StrAppend(&valid, std::string(suite.suite), "/", std::string(suite.name), ", ");
  }
  for (const kernels::Invariance& invariance : op.invariances) {
    if (request.suite() == kInvarianceSuite && invariance.name == request.name()) {
      return run_invariance(state, op, invariance, progress);
    }
    absl::StrAppend(&valid, std::string(kInvarianceSuite), "/", std::string(invariance.name), ", ");
  }
  return refused(absl::NotFoundError(absl::StrCat("no check `",
                                                  request.suite(),
                                                  "/",
                                                  request.name(),
                                                  "`; valid: ",
                                                  valid,
                                                  std::string(kMutantSuite),
                                                  "/NAME")));
}

}  // namespace assay::profiler
