// Where the times of a series of runs change their level, in the presence of outliers: segment()
// over logarithms, in units of a noise that is taken from the differences of neighbours, which a
// step hardly touches (the median, and the upper quartile where many are equal). docs/trends.md
// says why this method, where the penalty comes from, and what the answer to each kind of series
// is. The same times have the same answer everywhere: nothing is drawn by chance.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::history {

// Fewer runs have no answer; of more than the most the newest are read.
inline constexpr std::size_t kLeastRuns = 6;
inline constexpr std::size_t kMostRuns = 1000;
// What a change must save, in squared noise: at most one series in a hundred without any change has
// one.
inline constexpr std::int32_t kPenalty = 17;
// Of the interval of a ratio.
inline constexpr double kRatioCoverage = 0.99;

struct Point {
  double time_ns = 0;
  double noise = 0;  // standard error of time_ns, a share of it (noise_of_median); 0: unknown
};

struct ChangeOptions {
  double least_effect = 0.01;  // a share of the level, in [0.0001, 1]
  double noise_floor = 0;      // of A/A controls, a share, in [0, 1]; 0: none is stored
};

enum class Direction : std::uint8_t { kSlower, kFaster };

// Runs at one level, by their index in what was given.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
  double level_ns = 0;  // median
  double noise = 0;     // robust deviation of a run, a share of the level
};

struct ChangePoint {
  std::size_t first = 0;  // the first run at the new level
  Direction direction = Direction::kSlower;
  double ratio = 1;  // new / old, by shift_between
  double ratio_low = 1;
  double ratio_high = 1;
  double coverage = 0;  // kRatioCoverage, or less where the runs are too few for it
};

// The newest runs, all off the last level to one side, and no new level yet.
struct Pending {
  std::size_t first = 0;
  std::size_t num_runs = 0;
  Direction direction = Direction::kSlower;
  double ratio = 1;  // of their median to the last level
};

struct Changes {
  std::vector<Segment> segments;
  std::vector<ChangePoint> change_points;  // the i-th lies between segments i and i + 1
  std::optional<Pending> pending;
  double noise = 0;  // of a run, a share; never below a third of `bar`
  double bar = 0;    // what is less is no change: the larger of least effect and noise floor
  std::size_t num_left_out = 0;  // oldest runs, beyond kMostRuns
};

// INVALID_ARGUMENT names the run or the option; FAILED_PRECONDITION "not enough points (have 3,
// need 6)".
absl::StatusOr<Changes> find_changes(std::span<const Point> points,
                                     const ChangeOptions& options = {});

// The standard error of a median, a share of it, from the quartiles of its samples: McGill, Tukey
// and Larsen, "Variations of Box Plots" (1978). 0 where anything is missing.
double noise_of_median(double lower_quartile,
                       double median,
                       double upper_quartile,
                       std::size_t num_samples);

}  // namespace assay::history
