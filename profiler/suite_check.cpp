#include "profiler/suite_check.h"

#include "profiler/checked_call.h"
#include "profiler/digest.h"
#include "profiler/drift.h"
#include "profiler/poison.h"
#include "profiler/tensor.h"
#include "profiler/tolerance.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

// Progress of a suite: one case at a time, in the device's memory.
class SuiteRun {
 public:
  SuiteRun(RunnerState& state, const kernels::Operator& op, const kernels::CaseSuite& suite)
      : state_(state), op_(op), suite_(suite), table_(state.device, op) {}

  absl::StatusOr<v1::CheckResult> run(const ProgressSink& progress);

 private:
  absl::Status plan_arms();
  absl::Status run_case(std::int64_t index);
  absl::Status run_baseline();
  absl::Status run_arm(const ArmPlan& arm, std::byte poison, HostOutputs& outputs);
  void count(const kernels::Workload& workload);
  void compare(const ArmPlan& arm, bool& is_same);
  void judge_tolerance(const ArmPlan& arm, const HostOutputs& outputs, bool& is_same);
  // Keeps the first finding only.
  void note(const ArmPlan& arm, const std::string& finding);
  void summarise();

  RunnerState& state_;
  const kernels::Operator& op_;
  const kernels::CaseSuite& suite_;
  ArmTable table_;
  std::vector<const ArmPlan*> arms_;  // the baseline first
  LeftOut left_out_;
  std::unique_ptr<kernels::Problem> problem_;
  std::string case_name_;
  HostOutputs expected_;
  HostOutputs found_;
  ToleranceBuckets buckets_;
  std::map<std::string, std::int64_t> counts_;
  v1::CheckResult result_;
};

absl::Status SuiteRun::plan_arms() {
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> texts, family_arms(state_.device, op_));
  if (!suite_.arms.empty()) {
    texts.resize(1);
    texts.insert(texts.end(), suite_.arms.begin(), suite_.arms.end());
  }
  for (const std::string& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(const ArmPlan* const arm, table_.find(text, left_out_));
    if (arm == nullptr && arms_.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("the baseline: ", left_out_.text()));
    }
    if (arm == nullptr) {
      continue;
    }
    if (!arms_.empty()) {
      result_.add_arms(text);
    }
    arms_.push_back(arm);
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
  absl::Status finished;
  ASSAY_RETURN_IF_ERROR(checked_call(
      state_.device, state_.workspace, *problem_, arm, poison, nullptr, finished, outputs));
  return finished.ok()
             ? finished
             : proto::annotate(finished, absl::StrCat(case_name_, ", ", proto::text_of(arm.arm)));
}

void SuiteRun::compare(const ArmPlan& arm, bool& is_same) {
  const std::span<const ComparedTensor> compared = state_.workspace.compared();
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (is_left(*arms_[0], compared[place]) || is_left(arm, compared[place])) {
      continue;
    }
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
        tolerance_use(compared[place].layout, outputs.bytes[place].data(), *reference, buckets_);
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

// The baseline's outputs are what the case's digest stands for.
absl::Status SuiteRun::run_baseline() {
  const ArmPlan& baseline = *arms_[0];
  ASSAY_RETURN_IF_ERROR(run_arm(baseline, kFirstPoison, expected_));
  std::vector<std::pair<std::string, Digest>> digests;
  const std::span<const ComparedTensor> compared = state_.workspace.compared();
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (is_left(baseline, compared[place])) {
      continue;
    }
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
  digest.set_family(baseline.family);
  return absl::OkStatus();
}

absl::Status SuiteRun::run_case(std::int64_t index) {
  case_name_ = absl::StrCat(std::string(suite_.suite), "/", std::string(suite_.name), "/", index);
  ASSAY_ASSIGN_OR_RETURN(const kernels::Workload workload,
                         checked_workload(op_, suite_.workload(index), case_name_));
  problem_ = op_.make_problem(workload);
  if (absl::Status status = state_.workspace.load(*problem_); !status.ok()) {
    if (!absl::IsResourceExhausted(status)) {
      return status;
    }
    left_out_.add(case_name_, status);
    return absl::OkStatus();
  }
  count(workload);
  ASSAY_RETURN_IF_ERROR(run_baseline());

  // Another poison, so that what an arm leaves unwritten, or reads unwritten or outside, differs.
  bool is_same = true;
  if (suite_.against_reference) {
    judge_tolerance(*arms_[0], expected_, is_same);
  }
  for (std::size_t place = 1; place < arms_.size(); ++place) {
    const ArmPlan& arm = *arms_[place];
    ASSAY_RETURN_IF_ERROR(run_arm(arm, kScratchPoison, found_));
    if (arm.family == arms_[0]->family) {
      compare(arm, is_same);
    }
    if (suite_.against_reference) {
      judge_tolerance(arm, found_, is_same);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, state_.workspace.find_overrun());
  if (!overrun.empty()) {
    state_.workspace.forget();
    is_same = false;
    note(*arms_.back(), absl::StrCat("one of the arms wrote ", overrun));
  }
  result_.set_num_cases(result_.num_cases() + 1);
  result_.set_num_differing(result_.num_differing() + (is_same ? 0 : 1));
  return absl::OkStatus();
}

void SuiteRun::summarise() {
  for (const auto& [label, num] : counts_) {
    v1::CountBy& count = *result_.add_counts();
    count.set_label(label);
    count.set_num(num);
  }
  buckets_.write(*result_.mutable_tolerance_buckets());
  result_.set_tolerance_alarm(result_.tolerance_used() > op_.tolerance_alarm);
  result_.set_not_run(left_out_.text());
  // "0 differ" between outputs that say nothing proves nothing.
  const bool has_run = result_.num_cases() > 0 || left_out_.empty();
  if (has_run && result_.num_nontrivial() == 0) {
    result_.set_passed(false);
    result_.set_detail("no case has an output element that is not zero");
  }
  result_.set_summary(absl::StrCat(with_commas(result_.num_cases()),
                                   " cases, ",
                                   with_commas(result_.num_differing()),
                                   " differ"));
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
  if (result_.num_cases() > 0) {
    ASSAY_ASSIGN_OR_RETURN(const std::string changed, state_.workspace.find_changed_input(0));
    if (!changed.empty()) {
      state_.workspace.forget();
      note(*arms_.back(), absl::StrCat("one of the arms changed input `", changed, "`"));
      result_.set_passed(false);
    }
  }
  summarise();
  return std::move(result_);
}

}  // namespace

absl::StatusOr<v1::CheckResult> run_suite(RunnerState& state,
                                          const kernels::Operator& op,
                                          const kernels::CaseSuite& suite,
                                          const ProgressSink& progress) {
  return SuiteRun(state, op, suite).run(progress);
}

}  // namespace assay::profiler
