// How often a change is claimed that is not there, and found that is. Chance is a fixed seed.
#include "tests/history/made_up_series.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::history {
namespace {

constexpr int kNumSeries = 1000;
constexpr double kDeviation = 0.02;

int false_alarms(std::size_t num_runs, Shape shape) {
  int alarms = 0;
  for (int series = 0; series < kNumSeries; ++series) {
    const auto seed = static_cast<std::uint64_t>(series) * 7919 + num_runs;
    const auto times = noisy(levels_of({{num_runs, 20'000}}), kDeviation, seed, shape);
    alarms += changes_of(times).change_points.empty() ? 0 : 1;
  }
  return alarms;
}

struct Found {
  int steps = 0;
  int in_place = 0;  // within five runs
};

Found found_steps(const std::vector<Level>& levels, std::size_t place, int num_series) {
  Found found;
  for (int series = 0; series < num_series; ++series) {
    const auto times = noisy(levels_of(levels), kDeviation, static_cast<std::uint64_t>(series) + 1);
    const Changes changes = changes_of(times);
    found.steps += changes.change_points.empty() ? 0 : 1;
    for (const ChangePoint& change : changes.change_points) {
      const auto off =
          static_cast<std::ptrdiff_t>(change.first) - static_cast<std::ptrdiff_t>(place);
      if (change.direction == Direction::kSlower && std::abs(off) <= 5) {
        ++found.in_place;
        break;
      }
    }
  }
  return found;
}

TEST(ChangeRates, AtMostOneNormalSeriesInAHundredRaisesAFalseAlarm) {
  for (const std::size_t num_runs : {6, 10, 20, 50, 200}) {
    EXPECT_LE(false_alarms(num_runs, Shape::kNormal), kNumSeries / 100) << num_runs;
  }
}

TEST(ChangeRates, HeavyTailsAndSkewAreNoChangesEither) {
  for (const Shape shape : {Shape::kHeavyTailed, Shape::kSkewed, Shape::kExponential}) {
    for (const std::size_t num_runs : {6, 20, 200}) {
      EXPECT_LE(false_alarms(num_runs, shape), kNumSeries / 100)
          << num_runs << " runs, shape " << static_cast<int>(shape);
    }
  }
}

TEST(ChangeRates, AStepOfThreePercentIsFoundInItsPlaceUnderTwoPercentOfNoise) {
  const Found found = found_steps({{100, 20'000}, {100, 20'600}}, 100, 200);
  EXPECT_GE(found.steps, 199);
  EXPECT_GE(found.in_place, 190);
}

TEST(ChangeRates, AStepOfFivePercentIsFoundFromItsFifthRun) {
  EXPECT_GE(found_steps({{100, 20'000}, {5, 21'000}}, 100, 200).in_place, 150);
}

}  // namespace
}  // namespace assay::history
