#include "client/exit_status.h"

#include "client/compare_parts.h"
#include "client/sweep_races.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace assay::client {
namespace {

// Every reason that one configuration gives.
void add_reasons(const v1::Configuration& configuration,
                 bool is_check,
                 const FailOn& fail_on,
                 std::set<int>& reasons) {
  if (configuration.outcome() != v1::FINISHED) {
    reasons.insert(kNotCarriedOut);
    return;
  }
  const v1::Verdict& verdict = last_verdict(configuration);
  const bool failed_alone = configuration.candidate_arm().variant().empty() &&
                            configuration.baseline().bits().failed() != v1::BITS_CHECK_UNSPECIFIED;
  if (verdict.verdict() == v1::REJECTED || verdict.rejected_by() != v1::BITS_CHECK_UNSPECIFIED ||
      failed_alone || (is_check && !configuration.check().passed())) {
    reasons.insert(kRejected);
  }
  if (fail_on.slower && verdict.verdict() == v1::SLOWER) {
    reasons.insert(kSlower);
  }
  if (fail_on.undecided && verdict.verdict() == v1::UNDECIDED) {
    reasons.insert(kUndecided);
  }
}

// A configuration that cannot be had is no fault of a sweep; other bits are, and no winner.
void add_sweep_reasons(const v1::Experiment& experiment, std::set<int>& reasons) {
  for (const WorkloadRace& each : races_of(experiment)) {
    if (!each.result.winner) {
      reasons.insert(kNotCarriedOut);
    }
    for (const tuning::RaceEntry& entry : each.result.entries) {
      if (entry.failure == v1::BIT_DRIFT || entry.failure == v1::WRONG_OUTPUT) {
        reasons.insert(kRejected);
      }
    }
  }
}

}  // namespace

absl::StatusOr<FailOn> parse_fail_on(const std::vector<std::string>& names) {
  FailOn fail_on;
  for (const std::string& name : names) {
    if (name == "slower") {
      fail_on.slower = true;
    } else if (name == "undecided") {
      fail_on.undecided = true;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--fail-on: `", name, "`: expected slower or undecided"));
    }
  }
  return fail_on;
}

int exit_status(const v1::Experiment& experiment, const FailOn& fail_on) {
  std::set<int> reasons;
  if (experiment.state() != v1::DONE ||
      experiment.num_finished() < experiment.num_configurations()) {
    reasons.insert(kNotCarriedOut);
  }
  if (experiment.spec().kind() == v1::SWEEP) {
    add_sweep_reasons(experiment, reasons);
    return reasons.empty() ? kFine : *reasons.begin();
  }
  const bool is_check = experiment.spec().kind() == v1::CHECK;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    add_reasons(configuration, is_check, fail_on, reasons);
    if (experiment.spec().kind() == v1::CALIBRATE && lacks_noise_floor(configuration)) {
      reasons.insert(kNotCarriedOut);
    }
  }
  return reasons.empty() ? kFine : *reasons.begin();
}

absl::StatusOr<FailOnRegression> parse_fail_on_regression(const std::string& name) {
  if (name.empty()) {
    return FailOnRegression::kNothing;
  }
  if (name == "confirmed") {
    return FailOnRegression::kConfirmed;
  }
  if (name == "detected") {
    return FailOnRegression::kDetected;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--fail-on: `", name, "`: expected confirmed or detected"));
}

int exit_status(const v1::ListRegressionsResponse& regressions, FailOnRegression fail_on) {
  const bool fails =
      std::ranges::any_of(regressions.regressions(), [fail_on](const v1::Regression& regression) {
        switch (regression.state()) {
          case v1::CONFIRMED:
            return fail_on != FailOnRegression::kNothing;
          case v1::DETECTED:
          case v1::UNCONFIRMABLE:
            return fail_on == FailOnRegression::kDetected;
          default:
            return false;
        }
      });
  return fails ? kRegressed : kFine;
}

int exit_status(const absl::Status& status) {
  if (status.ok()) {
    return kFine;
  }
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kNotCarriedOut;
}

}  // namespace assay::client
