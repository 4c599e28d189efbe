// Series of runs from a seed, the same on every platform.
#pragma once

#include "history/change_points.h"
#include "tuning/random.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace assay::history {

enum class Shape : std::uint8_t { kNormal, kHeavyTailed, kSkewed, kExponential };

class Noise {
 public:
  Noise(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape) {}

  // Deviation 1; heavy tails are those of Student's t with four degrees of freedom.
  double next() {
    switch (shape_) {
      case Shape::kNormal:
        return normal();
      case Shape::kHeavyTailed: {
        double squares = 0;
        for (int degree = 0; degree < 4; ++degree) {
          const double value = normal();
          squares += value * value;
        }
        return normal() / std::sqrt(squares / 4) / std::numbers::sqrt2;
      }
      case Shape::kSkewed:
        return (std::exp(0.5 * normal()) - std::exp(0.125)) / 0.6039;
      case Shape::kExponential:
        return -std::log(uniform()) - 1;
    }
    return 0;
  }

 private:
  // In (0, 1).
  double uniform() { return (static_cast<double>(random_.bits() >> 11) + 0.5) * 0x1p-53; }

  // Box and Muller's.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  tuning::Random random_;
  Shape shape_;
};

inline std::vector<Point> runs_of(const std::vector<double>& times) {
  std::vector<Point> runs;
  for (const double time : times) {
    runs.push_back({.time_ns = time});
  }
  return runs;
}

// One after another: `num_runs` at a level.
struct Level {
  std::size_t num_runs;
  double time_ns;
};

inline std::vector<double> levels_of(const std::vector<Level>& levels) {
  std::vector<double> times;
  for (const Level& level : levels) {
    times.insert(times.end(), level.num_runs, level.time_ns);
  }
  return times;
}

// With noise of `deviation`, a share.
inline std::vector<double> noisy(std::vector<double> times,
                                 double deviation,
                                 std::uint64_t seed,
                                 Shape shape = Shape::kNormal) {
  Noise noise(seed, shape);
  for (double& time : times) {
    time *= std::exp(deviation * noise.next());
  }
  return times;
}

inline Changes changes_of(const std::vector<double>& times, const ChangeOptions& options = {}) {
  return find_changes(runs_of(times), options).value();
}

}  // namespace assay::history
