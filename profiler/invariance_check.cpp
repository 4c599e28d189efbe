#include "profiler/invariance_check.h"

#include "profiler/checked_call.h"
#include "profiler/matched_tensors.h"
#include "profiler/poison.h"
#include "profiler/tensor.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

// Of the right call's repeats, in turn; the left call has the first.
constexpr std::array<std::byte, 3> kPoisons = {kSecondPoison, kScratchPoison, kFirstPoison};

// One comparison of a pair: the arms of its two calls, by their text.
struct Calls {
  std::string left;
  std::string right;

  std::string text() const { return left == right ? left : absl::StrCat(left, " and ", right); }

  bool operator==(const Calls&) const = default;
};

// What a left call gave, by arm.
struct LeftCall {
  absl::Status finished;
  HostOutputs outputs;
};

class InvarianceRun {
 public:
  InvarianceRun(RunnerState& state,
                const kernels::Operator& op,
                const kernels::Invariance& invariance)
      : state_(state), op_(op), invariance_(invariance), table_(state.device, op) {}

  absl::StatusOr<v1::CheckResult> run(const ProgressSink& progress);

 private:
  absl::Status find_arms();
  absl::StatusOr<std::vector<Calls>> calls_of(const kernels::InvariancePair& pair);
  absl::Status run_pair(std::int64_t index);
  // False when the device cannot hold the problem.
  absl::StatusOr<bool> load(const kernels::Workload& workload,
                            std::unique_ptr<kernels::Problem>& problem);
  absl::Status call(const std::string& arm,
                    const kernels::Problem& problem,
                    std::byte poison,
                    absl::Status& finished,
                    HostOutputs& outputs);
  absl::StatusOr<bool> is_same(const Calls& calls,
                               const kernels::Problem& right,
                               const LeftCall& left,
                               const MatchedTensors& matched);
  absl::Status look_for_damage(bool at_inputs);
  // Keeps the first finding only.
  void note(const std::string& arms, const std::string& finding, const v1::Drift* drift);
  void summarise();

  const ArmPlan& plan(const std::string& text) { return *plans_.at(text); }

  RunnerState& state_;
  const kernels::Operator& op_;
  const kernels::Invariance& invariance_;
  ArmTable table_;
  std::map<std::string, const ArmPlan*> plans_;  // those that are there
  std::vector<std::string> at_hand_;
  LeftOut left_out_;
  std::int64_t num_pairs_left_out_ = 0;
  std::string pair_name_;
  std::string last_arms_;
  v1::CheckResult result_;
};

absl::Status InvarianceRun::find_arms() {
  std::vector<std::string> texts(invariance_.arms.begin(), invariance_.arms.end());
  if (texts.empty()) {
    ASSAY_ASSIGN_OR_RETURN(texts, family_arms(state_.device, op_));
  }
  at_hand_ = std::move(texts);
  return absl::OkStatus();
}

// Each combination of arms once, and only those that this device has.
absl::StatusOr<std::vector<Calls>> InvarianceRun::calls_of(const kernels::InvariancePair& pair) {
  std::vector<Calls> all;
  for (const std::string& arm : at_hand_) {
    Calls calls = {.left = pair.left_arm.empty() ? arm : pair.left_arm,
                   .right = pair.right_arm.empty() ? arm : pair.right_arm};
    bool is_there = true;
    for (const std::string& text : {calls.left, calls.right}) {
      ASSAY_ASSIGN_OR_RETURN(const ArmPlan* const found, table_.find(text, left_out_));
      is_there &= found != nullptr;
      if (found != nullptr) {
        plans_[text] = found;
      }
    }
    if (is_there && std::ranges::find(all, calls) == all.end()) {
      if (std::ranges::find(result_.arms(), calls.text()) == result_.arms().end()) {
        result_.add_arms(calls.text());
      }
      all.push_back(std::move(calls));
    }
  }
  return all;
}

absl::StatusOr<bool> InvarianceRun::load(const kernels::Workload& workload,
                                         std::unique_ptr<kernels::Problem>& problem) {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Workload checked,
                         checked_workload(op_, workload, pair_name_));
  problem = op_.make_problem(checked);
  const absl::Status status = state_.workspace.load(*problem);
  if (absl::IsResourceExhausted(status)) {
    left_out_.add(pair_name_, status);
    ++num_pairs_left_out_;
    return false;
  }
  ASSAY_RETURN_IF_ERROR(status);
  return true;
}

absl::Status InvarianceRun::call(const std::string& arm,
                                 const kernels::Problem& problem,
                                 std::byte poison,
                                 absl::Status& finished,
                                 HostOutputs& outputs) {
  last_arms_ = arm;
  return checked_call(
      state_.device, state_.workspace, problem, plan(arm), poison, nullptr, finished, outputs);
}

void InvarianceRun::note(const std::string& arms,
                         const std::string& finding,
                         const v1::Drift* drift) {
  if (!result_.passed()) {
    return;
  }
  result_.set_passed(false);
  result_.set_detail(absl::StrCat(pair_name_, ", ", arms, ": ", finding));
  if (drift != nullptr) {
    *result_.mutable_drift() = *drift;
  }
}

absl::StatusOr<bool> InvarianceRun::is_same(const Calls& calls,
                                            const kernels::Problem& right,
                                            const LeftCall& left,
                                            const MatchedTensors& matched) {
  if (!left.finished.ok()) {
    note(calls.left, absl::StrCat("the left call gave up: ", left.finished.ToString()), nullptr);
    return false;
  }
  const std::int64_t num_repeats = std::max<std::int64_t>(invariance_.num_repeats, 1);
  HostOutputs outputs;
  for (std::int64_t repeat = 0; repeat < num_repeats; ++repeat) {
    absl::Status finished;
    const std::byte poison = kPoisons.at(static_cast<std::size_t>(repeat) % kPoisons.size());
    ASSAY_RETURN_IF_ERROR(call(calls.right, right, poison, finished, outputs));
    if (!finished.ok()) {
      note(calls.right, absl::StrCat("the right call gave up: ", finished.ToString()), nullptr);
      return false;
    }
    const auto drift =
        matched.find_drift(plan(calls.left), left.outputs, plan(calls.right), outputs);
    if (drift.has_value()) {
      std::string finding = matched.describe(*drift);
      if (num_repeats > 1) {
        absl::StrAppend(
            &finding, ", repeat ", with_commas(repeat + 1), " of ", with_commas(num_repeats));
      }
      note(calls.text(), finding, &*drift);
      return false;
    }
  }
  return true;
}

// A call that wrote where it must not fails the invariance, whatever its bits are.
absl::Status InvarianceRun::look_for_damage(bool at_inputs) {
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, state_.workspace.find_overrun());
  std::string changed;
  if (overrun.empty() && at_inputs) {
    ASSAY_ASSIGN_OR_RETURN(changed, state_.workspace.find_changed_input(0));
  }
  if (overrun.empty() && changed.empty()) {
    return absl::OkStatus();
  }
  state_.workspace.forget();
  note(absl::StrCat("one of the calls until ", last_arms_),
       overrun.empty() ? absl::StrCat("input `", changed, "` was changed")
                       : absl::StrCat("written ", overrun),
       nullptr);
  return absl::OkStatus();
}

absl::Status InvarianceRun::run_pair(std::int64_t index) {
  const kernels::InvariancePair pair = invariance_.pair(index);
  pair_name_ = pair.name;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Calls> all, calls_of(pair));
  if (all.empty()) {
    ++num_pairs_left_out_;
    return absl::OkStatus();
  }

  std::unique_ptr<kernels::Problem> left;
  ASSAY_ASSIGN_OR_RETURN(const bool holds_left, load(pair.left, left));
  if (!holds_left) {
    return absl::OkStatus();
  }
  std::map<std::string, LeftCall> left_calls;
  for (const Calls& calls : all) {
    const auto [place, is_new] = left_calls.try_emplace(calls.left);
    if (is_new) {
      ASSAY_RETURN_IF_ERROR(
          call(calls.left, *left, kFirstPoison, place->second.finished, place->second.outputs));
    }
  }
  ASSAY_RETURN_IF_ERROR(look_for_damage(false));
  const std::vector<ComparedTensor> left_tensors(state_.workspace.compared().begin(),
                                                 state_.workspace.compared().end());

  std::unique_ptr<kernels::Problem> right;
  ASSAY_ASSIGN_OR_RETURN(const bool holds_right, load(pair.right, right));
  if (!holds_right) {
    return absl::OkStatus();
  }
  const auto matched =
      MatchedTensors::make(invariance_, *left, left_tensors, *right, state_.workspace.compared());
  if (!matched.ok()) {
    return refused(proto::annotate(matched.status(), pair_name_));
  }
  for (const auto& [arm, outputs] : left_calls) {
    if (outputs.finished.ok()) {
      result_.set_num_nontrivial(result_.num_nontrivial() +
                                 matched->count_nontrivial(outputs.outputs));
      break;
    }
  }
  for (const Calls& calls : all) {
    ASSAY_ASSIGN_OR_RETURN(const bool same,
                           is_same(calls, *right, left_calls.at(calls.left), *matched));
    result_.set_num_cases(result_.num_cases() + 1);
    result_.set_num_differing(result_.num_differing() + (same ? 0 : 1));
  }
  return look_for_damage(index + 1 == invariance_.num_pairs);
}

void InvarianceRun::summarise() {
  std::string not_run;
  if (num_pairs_left_out_ > 0) {
    not_run = absl::StrCat(
        with_commas(num_pairs_left_out_), " of ", with_commas(invariance_.num_pairs), " pairs: ");
  }
  result_.set_not_run(absl::StrCat(not_run, left_out_.text()));
  const bool has_run = result_.num_cases() > 0 || num_pairs_left_out_ == 0;
  // "0 differ" between outputs that say nothing proves nothing.
  if (has_run && result_.passed() && result_.num_nontrivial() == 0) {
    result_.set_passed(false);
    result_.set_detail("no pair matches an output element that is not zero");
  }
  result_.set_summary(absl::StrCat(with_commas(result_.num_cases()),
                                   " pairs of calls, ",
                                   with_commas(result_.num_differing()),
                                   " differ"));
}

absl::StatusOr<v1::CheckResult> InvarianceRun::run(const ProgressSink& progress) {
  result_.set_suite(std::string(kInvarianceSuite));
  result_.set_name(std::string(invariance_.name));
  result_.set_passed(true);
  if (const absl::Status status = find_arms(); !status.ok()) {
    return refused(status);
  }
  for (std::int64_t index = 0; index < invariance_.num_pairs; ++index) {
    ASSAY_RETURN_IF_ERROR(run_pair(index));
    ASSAY_RETURN_IF_ERROR(
        progress(static_cast<double>(index + 1) / static_cast<double>(invariance_.num_pairs),
                 absl::StrCat(result_.name(), ", ", pair_name_)));
  }
  summarise();
  return std::move(result_);
}

}  // namespace

absl::StatusOr<v1::CheckResult> run_invariance(RunnerState& state,
                                               const kernels::Operator& op,
                                               const kernels::Invariance& invariance,
                                               const ProgressSink& progress) {
  return InvarianceRun(state, op, invariance).run(progress);
}

}  // namespace assay::profiler
