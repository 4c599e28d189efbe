// Which of a regression's two levels a time belongs to.
#pragma once

#include "history/regressions.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::history {

enum class Side : std::uint8_t {
  kBelowOld,  // faster than the old level, beyond its noise
  kOld,      // within the noise of the old level, beyond that of the new one, and nearer to the old
  kBetween,  // everything else
  kNew,      // beyond the noise of the old level, and nearer to the new
};

// Noise of a level is kNoisesOfLevel deviations of the distance between the medians of the runs on
// both sides, and never less than the bar.
class Levels {
 public:
  Levels(const Regression& regression, double noise, double bar);

  // Of a median of num_runs runs.
  Side side_of(double time_ns, std::size_t num_runs) const;

  // A share of a level.
  double noise_of(std::size_t num_runs) const;

  // The fewest runs whose noise is below half of the distance between the levels; 0: no number is.
  std::size_t runs_to_tell() const;

 private:
  double log_noise_of(std::size_t num_runs) const;

  double old_level_;  // logarithms
  double new_level_;
  double noise_;
  double bar_;
  std::size_t num_old_runs_;
};

Levels levels_of(const Regression& regression, const Changes& changes);

// Runs of a segment that were not rejected.
std::uint32_t num_runs(std::span<const SeriesPoint> series, const Segment& segment);

}  // namespace assay::history
