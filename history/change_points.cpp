#include "history/change_points.h"

#include "history/robust.h"
#include "history/segmentation.h"
#include "history/shift.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace assay::history {
namespace {

// In multiples of it a change of the least effect is as far off as an outlier can be.
constexpr double kNoisesInBar = static_cast<double>(kOutlierSteps) / kStepsPerNoise;
// A change of just the bar is one, however its logarithm is rounded.
constexpr double kRounding = 1e-9;

absl::Status check(std::span<const Point> points, const ChangeOptions& options) {
  if (!(options.least_effect >= 0.0001 && options.least_effect <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("least_effect: must be in [0.0001, 1], is ", options.least_effect));
  }
  if (!(options.noise_floor >= 0 && options.noise_floor <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("noise_floor: must be in [0, 1], is ", options.noise_floor));
  }
  for (std::size_t at = 0; at < points.size(); ++at) {
    if (!std::isfinite(points[at].time_ns) || points[at].time_ns <= 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "points[%d].time_ns: must be finite and above 0, is %g", at, points[at].time_ns));
    }
    if (!std::isfinite(points[at].noise) || points[at].noise < 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "points[%d].noise: must be finite and at least 0, is %g", at, points[at].noise));
    }
  }
  if (points.size() < kLeastRuns) {
    return absl::FailedPreconditionError(
        absl::StrCat("not enough points (have ", points.size(), ", need ", kLeastRuns, ")"));
  }
  return absl::OkStatus();
}

std::vector<double> logs_of(std::span<const Point> points) {
  std::vector<double> logs;
  logs.reserve(points.size());
  for (const Point& point : points) {
    logs.push_back(std::log(point.time_ns));
  }
  return logs;
}

// Of a logarithm. A difference strays by the root of 2 more than a run.
double noise_of(std::span<const Point> points, const std::vector<double>& logs, double bar) {
  std::vector<double> steps;
  std::vector<double> own;
  for (std::size_t run = 1; run < logs.size(); ++run) {
    steps.push_back(std::abs(logs[run] - logs[run - 1]) / std::numbers::sqrt2);
  }
  for (const Point& point : points) {
    own.push_back(std::log1p(point.noise));
  }
  return std::max({quantile(steps, 0.5) / kNormalMedian,
                   quantile(steps, 0.75) / kNormalUpper,
                   median(std::move(own)),
                   std::log1p(bar) / kNoisesInBar});
}

std::vector<std::int32_t> positions_of(const std::vector<double>& logs, double noise) {
  std::vector<std::int32_t> positions;
  positions.reserve(logs.size());
  for (const double log : logs) {
    positions.push_back(
        static_cast<std::int32_t>(std::lround((log - logs.front()) / noise * kStepsPerNoise)));
  }
  return positions;
}

class Levels {
 public:
  // `firsts` of the segments.
  Levels(const std::vector<double>& logs, std::vector<std::size_t> firsts)
      : logs_(logs), firsts_(std::move(firsts)) {
    firsts_.push_back(logs_.size());
    for (std::size_t change = 1; change + 1 < firsts_.size(); ++change) {
      shifts_.push_back(shift_at(change));
    }
  }

  // Takes out the smallest change, and again, until none is below the bar.
  void drop_below(double bar) {
    while (!shifts_.empty()) {
      const auto least = std::ranges::min_element(
          shifts_, {}, [](const Shift& shift) { return std::abs(shift.middle); });
      if (std::abs(least->middle) >= bar * (1 - kRounding)) {
        return;
      }
      const auto change = static_cast<std::size_t>(least - shifts_.begin()) + 1;
      firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(change));
      shifts_.erase(least);
      for (const std::size_t near : {change - 1, change}) {
        if (near >= 1 && near <= shifts_.size()) {
          shifts_[near - 1] = shift_at(near);
        }
      }
    }
  }

  const std::vector<Shift>& shifts() const { return shifts_; }

  // One beyond the last is the number of runs.
  const std::vector<std::size_t>& firsts() const { return firsts_; }

  std::span<const double> runs_of(std::size_t segment) const {
    return std::span(logs_).subspan(firsts_[segment], firsts_[segment + 1] - firsts_[segment]);
  }

 private:
  Shift shift_at(std::size_t change) const {
    return shift_between(runs_of(change - 1), runs_of(change), kRatioCoverage);
  }

  const std::vector<double>& logs_;
  std::vector<std::size_t> firsts_;
  std::vector<Shift> shifts_;
};

Direction direction_of(double shift) {
  return shift > 0 ? Direction::kSlower : Direction::kFaster;
}

// Off the level means: as far as an outlier, and beyond the bar.
std::optional<Pending> pending_of(std::span<const double> last, double noise, double bar) {
  const double level = median({last.begin(), last.end()});
  const double limit = std::max(bar, kNoisesInBar * noise);
  std::vector<double> off;
  for (std::size_t run = last.size(); run-- > 0;) {
    const double distance = last[run] - level;
    const bool is_same_side = off.empty() || (distance > 0) == (off.front() > 0);
    if (std::abs(distance) <= limit || !is_same_side) {
      break;
    }
    off.push_back(distance);
  }
  if (off.empty()) {
    return std::nullopt;
  }
  return Pending{.first = last.size() - off.size(),
                 .num_runs = off.size(),
                 .direction = direction_of(off.front()),
                 .ratio = std::exp(median(off))};
}

ChangePoint change_point_of(const Shift& shift, std::size_t first) {
  return {.first = first,
          .direction = direction_of(shift.middle),
          .ratio = std::exp(shift.middle),
          .ratio_low = std::exp(shift.low),
          .ratio_high = std::exp(shift.high),
          .coverage = shift.coverage};
}

Segment segment_of(std::span<const Point> points, std::span<const double> logs, std::size_t first) {
  std::vector<double> times;
  times.reserve(logs.size());
  for (const Point& point : points.subspan(first, logs.size())) {
    times.push_back(point.time_ns);
  }
  return {.first = first,
          .last = first + logs.size() - 1,
          .level_ns = median(std::move(times)),
          .noise = std::expm1(spread({logs.begin(), logs.end()}))};
}

}  // namespace

absl::StatusOr<Changes> find_changes(std::span<const Point> points, const ChangeOptions& options) {
  if (const absl::Status status = check(points, options); !status.ok()) {
    return status;
  }
  Changes changes;
  changes.num_left_out = points.size() - std::min(points.size(), kMostRuns);
  const std::span<const Point> newest = points.subspan(changes.num_left_out);
  changes.bar = std::max(options.least_effect, options.noise_floor);
  const double bar = std::log1p(changes.bar);

  const std::vector<double> logs = logs_of(newest);
  const double noise = noise_of(newest, logs, changes.bar);
  changes.noise = std::expm1(noise);
  constexpr std::int32_t kPenaltySteps = kPenalty * kStepsPerNoise * kStepsPerNoise;
  Levels levels(logs, segment(positions_of(logs, noise), kPenaltySteps));
  levels.drop_below(bar);

  const std::vector<std::size_t>& firsts = levels.firsts();
  for (std::size_t place = 0; place + 1 < firsts.size(); ++place) {
    const std::size_t first = changes.num_left_out + firsts[place];
    changes.segments.push_back(segment_of(points, levels.runs_of(place), first));
    if (place > 0) {
      changes.change_points.push_back(change_point_of(levels.shifts()[place - 1], first));
    }
  }
  changes.pending = pending_of(levels.runs_of(firsts.size() - 2), noise, bar);
  if (changes.pending) {
    changes.pending->first += changes.segments.back().first;
  }
  return changes;
}

double noise_of_median(double lower_quartile,
                       double median,
                       double upper_quartile,
                       std::size_t num_samples) {
  if (num_samples == 0 || median <= 0 || lower_quartile <= 0 || upper_quartile < lower_quartile) {
    return 0;
  }
  return 1.25 / 1.35 * (upper_quartile - lower_quartile) / median /
         std::sqrt(static_cast<double>(num_samples));
}

}  // namespace assay::history
