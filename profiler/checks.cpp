#include "profiler/checks.h"

#include "profiler/arm_check.h"
#include "profiler/digest.h"
#include "profiler/drift.h"
#include "profiler/poison.h"
#include "profiler/tensor.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

// Progress of a suite: one case at a time, in the device's memory.
class SuiteRun {
 public:
  SuiteRun(RunnerState& state, const kernels::Operator& op, const kernels::CaseSuite& suite)
      : state_(state), op_(op), suite_(suite) {}

  absl::StatusOr<v1::CheckResult> run(const ProgressSink& progress);

 private:
  absl::Status plan_arms();
  absl::Status run_case(std::int64_t index);
  absl::Status run_arm(const ArmPlan& arm, std::byte poison, HostOutputs& outputs);
  void count(const kernels::Workload& workload);
  void compare(const ArmPlan& arm, bool& is_same);
  void judge_tolerance(const ArmPlan& arm, const HostOutputs& outputs, bool& is_same);
  // Keeps the first finding only.
  void note(const ArmPlan& arm, const std::string& finding);

  RunnerState& state_;
  const kernels::Operator& op_;
  const kernels::CaseSuite& suite_;
  std::vector<ArmPlan> arms_;  // the baseline first
  std::unique_ptr<kernels::Problem> problem_;
  std::string case_name_;
  HostOutputs expected_;
  HostOutputs found_;
  std::map<std::string, std::int64_t> counts_;
  v1::CheckResult result_;
};

absl::Status SuiteRun::plan_arms() {
  const v1::OperatorInfo info = state_.device.describe(op_);
  if (info.variants().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("operator ", info.name(), " has no variants on this device"));
  }
  std::vector<v1::Arm> arms;
  arms.emplace_back().set_variant(info.variants(0).name());
  for (const std::string_view text : suite_.arms) {
    ASSAY_ASSIGN_OR_RETURN(arms.emplace_back(), proto::parse_arm(text));
  }
  for (const v1::VariantInfo& variant : info.variants()) {
    if (suite_.arms.empty() && variant.family() == kernels::kBaselineFamily &&
        variant.name() != arms[0].variant()) {
      arms.emplace_back().set_variant(variant.name());
    }
  }
  for (const v1::Arm& arm : arms) {
    auto plan = state_.device.plan(op_, arm);
    // An arm of another backend, or one that this host cannot run, is left out and said so.
    if (!plan.ok() && !arms_.empty()) {
      absl::StrAppend(&*result_.mutable_detail(),
                      result_.detail().empty() ? "" : "; ",
                      "not run: ",
                      proto::text_of(arm),
                      " (",
                      std::string(plan.status().message()),
                      ")");
      continue;
    }
    if (!plan.ok()) {
      return plan.status();
    }
    if (!arms_.empty()) {
      result_.add_arms(proto::text_of(arm));
    }
    arms_.push_back(*std::move(plan));
  }
  return absl::OkStatus();
}

void SuiteRun::count(const kernels::Workload& workload) {
  const auto axis = std::ranges::find(
      workload.axes, suite_.count_by, [](const kernels::Setting& setting) -> std::string_view {
        return setting.first;
      });
  if (axis != workload.axes.end()) {
    ++counts_[axis->second];
  }
}

void SuiteRun::note(const ArmPlan& arm, const std::string& finding) {
  if (result_.num_differing() == 0 && !result_.has_drift() && result_.passed()) {
    result_.set_passed(false);
    result_.set_detail(absl::StrCat(case_name_, ", ", proto::text_of(arm.arm), ": ", finding));
  }
}

absl::Status SuiteRun::run_arm(const ArmPlan& arm, std::byte poison, HostOutputs& outputs) {
  ASSAY_RETURN_IF_ERROR(state_.workspace.poison(0, poison));
  const kernels::Call call = {.problem = problem_.get(),
                              .tensors = state_.workspace.sets()[0],
                              .parameters = arm.parameters};
  absl::Status finished;
  ASSAY_RETURN_IF_ERROR(state_.device.run(arm, call, finished));
  if (!finished.ok()) {
    return proto::annotate(finished, absl::StrCat(case_name_, ", ", proto::text_of(arm.arm)));
  }
  return state_.workspace.read_outputs(0, outputs);
}

void SuiteRun::compare(const ArmPlan& arm, bool& is_same) {
  const std::span<const ComparedTensor> compared = state_.workspace.compared();
  for (std::size_t place = 0; place < compared.size(); ++place) {
    const auto drift = find_drift(
        compared[place].layout, expected_.bytes[place].data(), found_.bytes[place].data());
    if (!drift.has_value()) {
      continue;
    }
    is_same = false;
    if (result_.num_differing() == 0 && !result_.has_drift()) {
      note(arm, describe(*drift));
      *result_.mutable_drift() = *drift;
    }
    return;
  }
}

void SuiteRun::judge_tolerance(const ArmPlan& arm, const HostOutputs& outputs, bool& is_same) {
  const std::span<const ComparedTensor> compared = state_.workspace.compared();
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (!compared[place].is_output) {
      continue;
    }
    const auto reference = state_.references.find_or_make(
        absl::StrCat(std::string(op_.name), "/", case_name_, "/", compared[place].layout.name),
        *problem_,
        compared[place].tensor);
    if (reference->values.empty()) {
      continue;
    }
    const ToleranceUse use =
        tolerance_use(compared[place].layout, outputs.bytes[place].data(), *reference);
    result_.set_tolerance_used(std::max(result_.tolerance_used(), use.share));
    if (!(use.share <= 1.0)) {
      is_same = false;
      note(arm,
           absl::StrCat(place_of(compared[place].layout.name,
                                 coordinates(compared[place].layout, use.element)),
                        " is at ",
                        use.share,
                        " of its tolerance"));
    }
  }
}

absl::Status SuiteRun::run_case(std::int64_t index) {
  case_name_ = absl::StrCat(std::string(suite_.suite), "/", std::string(suite_.name), "/", index);
  const kernels::Workload workload = suite_.workload(index);
  if (op_.validate != nullptr) {
    if (const absl::Status status = op_.validate(workload); !status.ok()) {
      return refused(proto::annotate(status, case_name_));
    }
  }
  count(workload);
  problem_ = op_.make_problem(workload);
  ASSAY_RETURN_IF_ERROR(state_.workspace.load(*problem_));
  const std::span<const ComparedTensor> compared = state_.workspace.compared();

  ASSAY_RETURN_IF_ERROR(run_arm(arms_[0], kFirstPoison, expected_));
  std::vector<std::pair<std::string, Digest>> digests;
  for (std::size_t place = 0; place < compared.size(); ++place) {
    const TensorLayout& layout = compared[place].layout;
    digests.emplace_back(layout.name, digest_tensor(layout, expected_.bytes[place].data()));
    if (compared[place].is_output) {
      result_.set_num_nontrivial(result_.num_nontrivial() +
                                 count_nontrivial(layout, expected_.bytes[place].data()));
    }
  }
  v1::CaseDigest& digest = *result_.add_digests();
  digest.set_workload(case_name_);
  digest.set_digest(digest_of_digests(digests).to_hex());
  digest.set_family(arms_[0].family);

  // Another poison, so that what an arm leaves unwritten or reads unwritten differs.
  bool is_same = true;
  if (suite_.against_reference) {
    judge_tolerance(arms_[0], expected_, is_same);
  }
  for (std::size_t arm = 1; arm < arms_.size(); ++arm) {
    ASSAY_RETURN_IF_ERROR(run_arm(arms_[arm], kScratchPoison, found_));
    if (arms_[arm].family == arms_[0].family) {
      compare(arms_[arm], is_same);
    }
    if (suite_.against_reference) {
      judge_tolerance(arms_[arm], found_, is_same);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, state_.workspace.find_overrun());
  if (!overrun.empty()) {
    state_.workspace.forget();
    is_same = false;
    note(arms_.back(), absl::StrCat("one of the arms wrote ", overrun));
  }
  result_.set_num_cases(result_.num_cases() + 1);
  result_.set_num_differing(result_.num_differing() + (is_same ? 0 : 1));
  return absl::OkStatus();
}

absl::StatusOr<v1::CheckResult> SuiteRun::run(const ProgressSink& progress) {
  result_.set_suite(std::string(suite_.suite));
  result_.set_name(std::string(suite_.name));
  result_.set_passed(true);
  if (absl::Status status = plan_arms(); !status.ok()) {
    return refused(status);
  }
  for (std::int64_t index = 0; index < suite_.num_cases; ++index) {
    ASSAY_RETURN_IF_ERROR(run_case(index));
    ASSAY_RETURN_IF_ERROR(progress(
        static_cast<double>(index + 1) / static_cast<double>(suite_.num_cases), case_name_));
  }
  // Inputs are shared by the cases, so looking once more at the last ones covers all that use them.
  if (suite_.num_cases > 0) {
    ASSAY_ASSIGN_OR_RETURN(const std::string changed, state_.workspace.find_changed_input(0));
    if (!changed.empty()) {
      state_.workspace.forget();
      note(arms_.back(), absl::StrCat("one of the arms changed input `", changed, "`"));
      result_.set_passed(false);
    }
  }
  for (const auto& [label, num] : counts_) {
    v1::CountBy& count = *result_.add_counts();
    count.set_label(label);
    count.set_num(num);
  }
  // "0 differ" between outputs that say nothing proves nothing.
  if (result_.num_nontrivial() == 0) {
    result_.set_passed(false);
    result_.set_detail("no case has an output element that is not zero");
  }
  result_.set_summary(absl::StrCat(with_commas(result_.num_cases()),
                                   " cases, ",
                                   with_commas(result_.num_differing()),
                                   " differ"));
  return std::move(result_);
}

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
      absl::StrCat(std::string(op.name), "/", proto::text_of(workload_message(*workload, ""))));
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

}  // namespace

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
      return SuiteRun(state, op, suite).run(progress);
    }
    absl::StrAppend(&valid, std::string(suite.suite), "/", std::string(suite.name), ", ");
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
