#include "history/levels.h"

#include "history/robust.h"

#include <algorithm>
#include <cmath>

namespace assay::history {
namespace {

// More runs than that are not asked for.
constexpr std::size_t kMostRunsToTell = 20;

// Of a median of so many runs, in squared deviations of one.
double variance_of(std::size_t num_runs) {
  return num_runs <= 1 ? 1 : kMedianVariance / static_cast<double>(num_runs);
}

}  // namespace

Levels::Levels(const Regression& regression, double noise, double bar)
    : old_level_(std::log(regression.old_level_ns)),
      new_level_(std::log(regression.new_level_ns)),
      noise_(std::log1p(noise)),
      bar_(std::log1p(bar)),
      num_old_runs_(regression.num_old_runs) {}

double Levels::log_noise_of(std::size_t num_runs) const {
  const double variance = variance_of(num_runs) + variance_of(num_old_runs_);
  return std::max(bar_, kNoisesOfLevel * noise_ * std::sqrt(variance));
}

double Levels::noise_of(std::size_t num_runs) const {
  return std::expm1(log_noise_of(num_runs));
}

Side Levels::side_of(double time_ns, std::size_t num_runs) const {
  const double noise = log_noise_of(num_runs);
  const double from_old = std::log(time_ns) - old_level_;
  const double from_new = std::log(time_ns) - new_level_;
  if (from_old < -noise) {
    return Side::kBelowOld;
  }
  const bool is_nearer_new = std::abs(from_new) < std::abs(from_old);
  if (is_nearer_new && from_old > noise) {
    return Side::kNew;
  }
  return !is_nearer_new && from_old <= noise && from_new < -noise ? Side::kOld : Side::kBetween;
}

std::size_t Levels::runs_to_tell() const {
  for (std::size_t runs = 1; runs <= kMostRunsToTell; ++runs) {
    if (log_noise_of(runs) < (new_level_ - old_level_) / 2) {
      return runs;
    }
  }
  return 0;
}

Levels levels_of(const Regression& regression, const Changes& changes) {
  return {regression, changes.noise, changes.bar};
}

std::uint32_t num_runs(std::span<const SeriesPoint> series, const Segment& segment) {
  return static_cast<std::uint32_t>(
      std::ranges::count(series.subspan(segment.first, segment.last - segment.first + 1),
                         false,
                         &SeriesPoint::rejected));
}

}  // namespace assay::history
