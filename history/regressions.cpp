#include "history/regressions.h"

#include "history/levels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <optional>

namespace assay::history {
namespace {

bool is_over(RegressionState state) {
  return state == RegressionState::kRefuted || state == RegressionState::kFixed;
}

// What rests on the series alone.
bool is_revocable(RegressionState state) {
  return state == RegressionState::kDetected || state == RegressionState::kUnconfirmable;
}

std::string about_code(std::span<const SeriesPoint> series, std::size_t first) {
  const std::string& after = series[first].code_digest;
  std::size_t before = first;
  while (before > 0 && series[before - 1].rejected) {
    --before;
  }
  if (before == 0 || after.empty() || series[before - 1].code_digest.empty()) {
    return "whether the code changed is not known";
  }
  return series[before - 1].code_digest == after
             ? "the code is that of the run before, so the cause is elsewhere"
             : "the code changed with it";
}

std::string detected(const Regression& found, double bar, const std::string& code) {
  return absl::StrFormat(
      "detected: from experiment %d on a run takes %.4g of the time before (%.4g to %.4g, coverage "
      "%.4g %%), "
      "beyond the bar of %.2f %%; %s",
      found.experiment_id,
      found.ratio,
      found.ratio_low,
      found.ratio_high,
      found.coverage * 100,
      bar * 100,
      code);
}

Regression regression_of(const Changes& changes,
                         std::size_t change,
                         std::span<const SeriesPoint> series) {
  const ChangePoint& point = changes.change_points[change];
  const Segment& old_level = changes.segments[change];
  Regression found;
  found.experiment_id = series[point.first].experiment_id;
  found.code_digest = series[point.first].code_digest;
  found.old_level_ns = old_level.level_ns;
  found.new_level_ns = changes.segments[change + 1].level_ns;
  found.num_old_runs = num_runs(series, old_level);
  found.ratio = point.ratio;
  found.ratio_low = point.ratio_low;
  found.ratio_high = point.ratio_high;
  found.coverage = point.coverage;
  found.reason = detected(found, changes.bar, about_code(series, point.first));
  return found;
}

// The slower changes of a series, and which of them a stored regression is.
class Matcher {
 public:
  Matcher(std::span<const SeriesPoint> series, const Changes& changes)
      : series_(series), changes_(changes) {
    for (std::size_t change = 0; change < changes.change_points.size(); ++change) {
      if (changes.change_points[change].direction == Direction::kSlower) {
        unmatched_.push_back(change);
      }
    }
  }

  // nullopt: not in the series, or in a part of it that was not read.
  std::optional<std::size_t> place_of(const Regression& regression) const {
    const auto at =
        std::ranges::find(series_, regression.experiment_id, &SeriesPoint::experiment_id);
    const auto place = static_cast<std::size_t>(at - series_.begin());
    if (at == series_.end() || place <= changes_.segments.front().first) {
      return std::nullopt;
    }
    return place;
  }

  // The nearest change that is none of another's.
  std::optional<std::size_t> take(std::size_t place) {
    const auto distance = [&](std::size_t change) {
      const std::size_t first = changes_.change_points[change].first;
      return std::max(first, place) - std::min(first, place);
    };
    const auto nearest = std::ranges::min_element(unmatched_, {}, distance);
    if (nearest == unmatched_.end() || distance(*nearest) > kSamePlace) {
      return std::nullopt;
    }
    const std::size_t change = *nearest;
    unmatched_.erase(nearest);
    return change;
  }

  const std::vector<std::size_t>& unmatched() const { return unmatched_; }

 private:
  std::span<const SeriesPoint> series_;
  const Changes& changes_;
  std::vector<std::size_t> unmatched_;
};

// The series may place and size a change anew; what is known of it stays.
void refresh(Regression& regression, Regression found) {
  found.state = regression.state;
  found.acknowledgement = std::move(regression.acknowledgement);
  found.fixed_experiment_id = regression.fixed_experiment_id;
  found.reason = std::move(regression.reason);
  regression = std::move(found);
}

void look_for_fix(Regression& regression,
                  std::size_t change,
                  std::span<const SeriesPoint> series,
                  const Changes& changes) {
  if (is_over(regression.state)) {
    return;
  }
  const Levels levels = levels_of(regression, changes);
  for (std::size_t place = change + 2; place < changes.segments.size(); ++place) {
    const Segment& later = changes.segments[place];
    const Side side = levels.side_of(later.level_ns, num_runs(series, later));
    if (side == Side::kOld || side == Side::kBelowOld) {
      regression.state = RegressionState::kFixed;
      regression.fixed_experiment_id = series[later.first].experiment_id;
      regression.reason = absl::StrFormat(
          "fixed: from experiment %d on a run takes %.4g of the time before the regression",
          regression.fixed_experiment_id,
          later.level_ns / regression.old_level_ns);
      return;
    }
  }
}

}  // namespace

absl::StatusOr<Changes> find_changes(std::span<const SeriesPoint> series,
                                     const ChangeOptions& options) {
  std::vector<Point> points;
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < series.size(); ++place) {
    const SeriesPoint& run = series[place];
    if (!run.rejected) {
      points.push_back({.time_ns = static_cast<double>(run.median_ns),
                        .noise = noise_of_median(static_cast<double>(run.lower_quartile_ns),
                                                 static_cast<double>(run.median_ns),
                                                 static_cast<double>(run.upper_quartile_ns),
                                                 run.num_samples)});
      places.push_back(place);
      if (run.median_ns <= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("series[", place, "].median_ns: must be above 0, is ", run.median_ns));
      }
    }
  }
  auto changes = find_changes(points, options);
  if (!changes.ok()) {
    return changes.status();
  }
  for (Segment& segment : changes->segments) {
    segment.first = places[segment.first];
    segment.last = places[segment.last];
  }
  for (ChangePoint& change : changes->change_points) {
    change.first = places[change.first];
  }
  if (changes->pending) {
    changes->pending->first = places[changes->pending->first];
  }
  return changes;
}

std::vector<Regression> update(std::span<const Regression> stored,
                               std::span<const SeriesPoint> series,
                               const Changes& changes) {
  Matcher matcher(series, changes);
  std::vector<Regression> regressions(stored.begin(), stored.end());
  for (Regression& regression : regressions) {
    const auto place = matcher.place_of(regression);
    if (!place) {
      continue;
    }
    if (const auto change = matcher.take(*place)) {
      refresh(regression, regression_of(changes, *change, series));
      look_for_fix(regression, *change, series, changes);
    } else if (is_revocable(regression.state)) {
      regression.state = RegressionState::kRefuted;
      regression.reason = absl::StrCat("refuted: with the runs since then there is no change at ",
                                       "experiment ",
                                       regression.experiment_id);
    }
  }
  for (const std::size_t change : matcher.unmatched()) {
    regressions.push_back(regression_of(changes, change, series));
    look_for_fix(regressions.back(), change, series, changes);
  }
  return regressions;
}

absl::StatusOr<Regression> acknowledge(Regression regression, std::string_view reason) {
  if (reason.empty()) {
    return absl::InvalidArgumentError("reason: must not be empty");
  }
  if (is_over(regression.state)) {
    return absl::FailedPreconditionError(absl::StrCat("the regression at experiment ",
                                                      regression.experiment_id,
                                                      " is ",
                                                      std::string(name_of(regression.state)),
                                                      ": nothing is left to acknowledge"));
  }
  regression.state = RegressionState::kAcknowledged;
  regression.acknowledgement = std::string(reason);
  regression.reason = "acknowledged: " + regression.acknowledgement;
  return regression;
}

std::string_view name_of(RegressionState state) {
  switch (state) {
    case RegressionState::kDetected:
      return "detected";
    case RegressionState::kConfirmed:
      return "confirmed";
    case RegressionState::kRefuted:
      return "refuted";
    case RegressionState::kUnconfirmable:
      return "unconfirmable";
    case RegressionState::kAcknowledged:
      return "acknowledged";
    case RegressionState::kFixed:
      return "fixed";
  }
  return "";
}

}  // namespace assay::history
