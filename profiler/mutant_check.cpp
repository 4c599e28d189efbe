#include "profiler/mutant_check.h"

#include "profiler/arm_check.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <memory>

namespace assay::profiler {

absl::StatusOr<v1::CheckResult> run_mutant(RunnerState& state,
                                           const kernels::Operator& op,
                                           const std::string& name) {
  const v1::OperatorInfo info = state.device.describe(op);
  const auto mutant = std::ranges::find(info.mutants(), name, &v1::MutantInfo::name);
  auto plan = state.device.plan_mutant(op, name);
  if (!plan.ok()) {
    return refused(plan.status());
  }
  v1::Arm baseline_arm;
  baseline_arm.set_variant(info.variants(0).name());
  auto baseline_plan = state.device.plan(op, baseline_arm);
  auto given = state.device.mutant_workload(op, name);
  auto workload = given.ok() ? complete_workload(op, *given)
                             : absl::StatusOr<kernels::Workload>(given.status());
  if (!baseline_plan.ok() || !workload.ok()) {
    return refused(baseline_plan.ok() ? workload.status() : baseline_plan.status());
  }
  const std::unique_ptr<kernels::Problem> problem = op.make_problem(*workload);
  if (absl::Status status = state.workspace.load(*problem); !status.ok()) {
    return absl::IsResourceExhausted(status) ? refused(status) : status;
  }

  ArmChecker checker(
      state.device,
      state.workspace,
      state.references,
      *problem,
      absl::StrCat(std::string(op.name), "/", proto::text_of(workload_message(*workload, ""))),
      op.tolerance_alarm);
  v1::Measurement baseline;
  v1::Measurement candidate;
  CheckedOutputs expected;
  CheckedOutputs found;
  ASSAY_RETURN_IF_ERROR(checker.check(*baseline_plan, nullptr, baseline, expected));
  v1::CheckResult result;
  result.set_suite(std::string(kMutantSuite));
  result.set_name(name);
  result.set_summary(mutant == info.mutants().end() ? "" : mutant->defect());
  result.set_num_cases(1);
  if (baseline.bits().failed() != v1::BITS_CHECK_UNSPECIFIED) {
    result.set_detail(absl::StrCat("the baseline failed by itself: ", baseline.bits().detail()));
    return result;
  }
  ASSAY_RETURN_IF_ERROR(checker.check(*plan, &expected, candidate, found));
  const v1::BitsReport& bits = candidate.bits();
  result.set_rejected_by(bits.failed());
  result.set_passed(bits.failed() != v1::BITS_CHECK_UNSPECIFIED);
  result.set_num_differing(result.passed() ? 1 : 0);
  result.set_detail(result.passed() ? bits.detail() : "survived: no check rejected it");
  result.set_tolerance_used(bits.tolerance_used());
  if (bits.has_drift()) {
    *result.mutable_drift() = bits.drift();
  }
  for (const v1::TensorDigest& output : baseline.outputs()) {
    result.set_num_nontrivial(result.num_nontrivial() + output.num_nontrivial());
  }
  result.add_arms(name);
  return result;
}

}  // namespace assay::profiler
