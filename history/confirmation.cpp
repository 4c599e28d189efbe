// What runs of the same code again say about a regression.
#include "history/levels.h"
#include "history/regressions.h"
#include "history/robust.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <string>
#include <vector>

namespace assay::history {
namespace {

// Why the runs say nothing about this code; empty: they do.
std::string obstacle(const Regression& regression, std::span<const SeriesPoint> again) {
  const auto is_other = [&](const SeriesPoint& run) {
    return run.code_digest != regression.code_digest;
  };
  if (regression.code_digest.empty() ||
      std::ranges::any_of(again, &std::string::empty, &SeriesPoint::code_digest)) {
    return "no digest says whether it is the same code";
  }
  if (std::ranges::any_of(again, is_other)) {
    return "the code of that run is no longer at hand";
  }
  const bool has_rejected = std::ranges::any_of(again, &SeriesPoint::rejected);
  return has_rejected ? "the run was rejected and has no time" : "";
}

// "a run again takes 1.0512 of the old level and 0.9987 of the new one".
std::string figures(const Regression& regression, double time_ns, std::size_t num_runs) {
  const std::string runs =
      num_runs == 1 ? "a run again takes" : absl::StrCat(num_runs, " runs again take");
  return absl::StrFormat("%s %.4f of the old level and %.4f of the new one",
                         runs,
                         time_ns / regression.old_level_ns,
                         time_ns / regression.new_level_ns);
}

std::string advice(const Levels& levels, std::size_t num_runs) {
  const std::size_t needed = levels.runs_to_tell();
  if (needed == 0) {
    return "; the levels are too near to each other for runs again to tell them apart";
  }
  return needed > num_runs ? absl::StrCat("; ", needed, " runs would tell the levels apart") : "";
}

}  // namespace

absl::StatusOr<Regression> confirm(Regression regression,
                                   const Changes& changes,
                                   std::span<const SeriesPoint> again) {
  if (regression.state != RegressionState::kDetected &&
      regression.state != RegressionState::kUnconfirmable) {
    return absl::FailedPreconditionError(absl::StrCat("the regression at experiment ",
                                                      regression.experiment_id,
                                                      " is ",
                                                      std::string(name_of(regression.state)),
                                                      ": only a detected one is run again"));
  }
  if (again.empty()) {
    return absl::InvalidArgumentError("again: must have at least one run");
  }
  if (const std::string reason = obstacle(regression, again); !reason.empty()) {
    regression.state = RegressionState::kUnconfirmable;
    regression.reason = absl::StrCat("unconfirmable: ", reason);
    return regression;
  }
  std::vector<double> times;
  for (std::size_t run = 0; run < again.size(); ++run) {
    if (again[run].median_ns <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("again[", run, "].median_ns: must be above 0, is ", again[run].median_ns));
    }
    times.push_back(static_cast<double>(again[run].median_ns));
  }
  const double time_ns = median(std::move(times));
  const Levels levels = levels_of(regression, changes);
  const std::string said = figures(regression, time_ns, again.size());
  const std::string noise = absl::StrFormat("%.2f %%", levels.noise_of(again.size()) * 100);
  switch (levels.side_of(time_ns, again.size())) {
    case Side::kNew:
      regression.state = RegressionState::kConfirmed;
      regression.reason =
          absl::StrCat("confirmed: ", said, ", beyond the old level's noise of ", noise);
      break;
    case Side::kOld:
      regression.state = RegressionState::kRefuted;
      regression.reason =
          absl::StrCat("refuted: ", said, ", within the old level's noise of ", noise);
      break;
    case Side::kBetween:
      regression.state = RegressionState::kDetected;
      regression.reason = absl::StrCat("still detected: ",
                                       said,
                                       ", which a noise of ",
                                       noise,
                                       " leaves open",
                                       advice(levels, again.size()));
      break;
    case Side::kBelowOld:
      regression.state = RegressionState::kDetected;
      regression.reason = absl::StrCat(
          "still detected: ", said, ": faster than either level, so something else changed");
      break;
  }
  return regression;
}

}  // namespace assay::history
