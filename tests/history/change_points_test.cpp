// What is said about each shape of series. Without noise the noise is a third of the bar, 0.33 %.
#include "history/change_points.h"

#include "tests/history/made_up_series.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace assay::history {
namespace {

std::vector<std::size_t> places_of(const Changes& changes) {
  std::vector<std::size_t> places;
  for (const ChangePoint& change : changes.change_points) {
    places.push_back(change.first);
  }
  return places;
}

using Places = std::vector<std::size_t>;

std::string error_of(const std::vector<Point>& runs, const ChangeOptions& options = {}) {
  return std::string(find_changes(runs, options).status().message());
}

TEST(ChangePoints, FewerThanSixRunsHaveNoAnswer) {
  const auto changes = find_changes(runs_of({1000, 1000, 1100}));
  EXPECT_EQ(changes.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(changes.status().message(), "not enough points (have 3, need 6)");
  EXPECT_EQ(error_of({}), "not enough points (have 0, need 6)");
}

TEST(ChangePoints, ATimeThatIsNoneIsRefusedByItsIndex) {
  std::vector<Point> runs = runs_of(levels_of({{8, 1000}}));
  runs[3].time_ns = 0;
  EXPECT_EQ(find_changes(runs).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of(runs), "points[3].time_ns: must be finite and above 0, is 0");
  runs[3].time_ns = -5;
  EXPECT_EQ(error_of(runs), "points[3].time_ns: must be finite and above 0, is -5");
  runs[3].time_ns = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(runs), "points[3].time_ns: must be finite and above 0, is nan");
  runs[3].time_ns = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of(runs), "points[3].time_ns: must be finite and above 0, is inf");
  runs[3] = {.time_ns = 1000, .noise = -0.1};
  EXPECT_EQ(error_of(runs), "points[3].noise: must be finite and at least 0, is -0.1");
}

TEST(ChangePoints, OptionsOutOfRangeAreRefusedByName) {
  const std::vector<Point> runs = runs_of(levels_of({{8, 1000}}));
  EXPECT_EQ(error_of(runs, {.least_effect = 0}), "least_effect: must be in [0.0001, 1], is 0");
  EXPECT_EQ(error_of(runs, {.noise_floor = -1}), "noise_floor: must be in [0, 1], is -1");
  EXPECT_FALSE(find_changes(runs, {.noise_floor = std::nan("")}).ok());
}

TEST(ChangePoints, AConstantSeriesIsOneLevel) {
  const Changes changes = changes_of(levels_of({{20, 1000}}));
  ASSERT_EQ(changes.segments.size(), 1);
  EXPECT_EQ(changes.segments[0].first, 0);
  EXPECT_EQ(changes.segments[0].last, 19);
  EXPECT_EQ(changes.segments[0].level_ns, 1000);
  EXPECT_EQ(changes.segments[0].noise, 0);
  EXPECT_TRUE(changes.change_points.empty());
  EXPECT_FALSE(changes.pending);
}

TEST(ChangePoints, AStepWithoutAnyNoiseIsFoundInTheShortestSeries) {
  const Changes changes = changes_of({1000, 1000, 1000, 1020, 1020, 1020});
  ASSERT_EQ(places_of(changes), (Places{3}));
  const ChangePoint& change = changes.change_points[0];
  EXPECT_EQ(change.direction, Direction::kSlower);
  EXPECT_NEAR(change.ratio, 1.02, 1e-12);
  EXPECT_NEAR(change.ratio_low, 1.02, 1e-12);
  EXPECT_NEAR(change.ratio_high, 1.02, 1e-12);
  EXPECT_NEAR(change.coverage, 0.9, 1e-12);
  EXPECT_EQ(changes.segments[1].level_ns, 1020);
}

TEST(ChangePoints, AChangeOfTheLeastEffectIsOneAndALesserIsNot) {
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1000}, {10, 1010}}))), (Places{10}));
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1010}, {10, 1000}}))), (Places{10}));
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1000}, {10, 1009}}))), (Places{}));
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1000}, {10, 1020}}), {.noise_floor = 0.03})),
            (Places{}));
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1000}, {10, 1002}}), {.least_effect = 0.001})),
            (Places{10}));
}

TEST(ChangePoints, AStepDownIsFaster) {
  const Changes changes = changes_of(noisy(levels_of({{40, 2000}, {40, 1800}}), 0.01, 4));
  ASSERT_EQ(places_of(changes), (Places{40}));
  const ChangePoint& change = changes.change_points[0];
  EXPECT_EQ(change.direction, Direction::kFaster);
  EXPECT_LT(change.ratio_low, 0.9);
  EXPECT_GT(change.ratio_high, 0.9);
  EXPECT_GE(change.coverage, 0.99);
  EXPECT_LT(change.ratio_high - change.ratio_low, 0.02);
}

TEST(ChangePoints, TwoStepsAreTwoChanges) {
  const auto times = noisy(levels_of({{50, 1000}, {50, 1050}, {50, 1100}}), 0.01, 2);
  const Changes changes = changes_of(times);
  EXPECT_EQ(places_of(changes), (Places{50, 100}));
  ASSERT_EQ(changes.segments.size(), 3);
  EXPECT_EQ(changes.segments[1].first, 50);
  EXPECT_EQ(changes.segments[1].last, 99);
  EXPECT_NEAR(changes.segments[1].level_ns, 1050, 5);
  EXPECT_NEAR(changes.segments[1].noise, 0.01, 0.005);
  EXPECT_NEAR(changes.noise, 0.01, 0.002);
}

TEST(ChangePoints, AStepAndTheWayBackAreTwoChanges) {
  const auto times = noisy(levels_of({{50, 1000}, {50, 1050}, {50, 1000}}), 0.01, 2);
  const Changes changes = changes_of(times);
  ASSERT_EQ(places_of(changes), (Places{50, 100}));
  EXPECT_EQ(changes.change_points[1].direction, Direction::kFaster);
}

TEST(ChangePoints, UpToThreeOutliersInARowAreNoChangeAndFourAre) {
  for (const std::size_t length : {1, 2, 3}) {
    const Changes changes = changes_of(levels_of({{10, 1000}, {length, 5000}, {10, 1000}}));
    EXPECT_EQ(places_of(changes), (Places{})) << length;
    EXPECT_EQ(changes.segments[0].level_ns, 1000);
    EXPECT_FALSE(changes.pending);
  }
  EXPECT_EQ(places_of(changes_of(levels_of({{10, 1000}, {4, 5000}, {10, 1000}}))),
            (Places{10, 14}));
}

TEST(ChangePoints, SpikesEverywhereHideNoStep) {
  auto times = noisy(levels_of({{50, 1000}, {50, 1050}}), 0.01, 5);
  for (std::size_t run = 4; run < times.size(); run += 10) {
    times[run] *= 3;
  }
  EXPECT_EQ(places_of(changes_of(times)), (Places{50}));
}

TEST(ChangePoints, TheNewestRunsOffTheLevelArePendingUntilTheThird) {
  const Changes one = changes_of(levels_of({{10, 1000}, {1, 1200}}));
  EXPECT_EQ(places_of(one), (Places{}));
  ASSERT_TRUE(one.pending);
  EXPECT_EQ(one.pending->first, 10);
  EXPECT_EQ(one.pending->num_runs, 1);
  EXPECT_EQ(one.pending->direction, Direction::kSlower);
  EXPECT_NEAR(one.pending->ratio, 1.2, 1e-12);

  const Changes two = changes_of(levels_of({{10, 1000}, {2, 800}}));
  EXPECT_EQ(places_of(two), (Places{}));
  ASSERT_TRUE(two.pending);
  EXPECT_EQ(two.pending->first, 10);
  EXPECT_EQ(two.pending->num_runs, 2);
  EXPECT_EQ(two.pending->direction, Direction::kFaster);

  const Changes three = changes_of(levels_of({{10, 1000}, {3, 1200}}));
  EXPECT_EQ(places_of(three), (Places{10}));
  EXPECT_FALSE(three.pending);
}

TEST(ChangePoints, RunsOffToBothSidesOrToNoCommonLevelAreNoChange) {
  const Changes both = changes_of({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1200, 800});
  EXPECT_EQ(places_of(both), (Places{}));
  EXPECT_EQ(both.pending->first, 8);
  EXPECT_EQ(both.pending->num_runs, 1);
  std::vector<double> times = levels_of({{20, 1000}});
  times.insert(times.end(), {1200, 1500, 2000});
  const Changes apart = changes_of(times);
  EXPECT_EQ(places_of(apart), (Places{}));
  EXPECT_EQ(apart.pending->num_runs, 3);
}

TEST(ChangePoints, TwoModesAreNoiseWhetherTheyAlternateOrComeByChance) {
  std::vector<double> alternating;
  std::vector<double> by_chance;
  Noise noise(3, Shape::kNormal);
  for (int run = 0; run < 100; ++run) {
    alternating.push_back(run % 2 == 0 ? 1000 : 1200);
    by_chance.push_back(noise.next() > 0 ? 1000 : 1200);
  }
  for (const auto& times : {alternating, by_chance}) {
    const Changes changes = changes_of(times);
    EXPECT_EQ(places_of(changes), (Places{}));
    EXPECT_GT(changes.noise, 0.15);
  }
}

// A kernel of a microsecond and a timer that ticks every 32 ns.
TEST(ChangePoints, TicksOfTheTimerAreNoiseWhereMoreThanHalfOfTheRunsAreEqual) {
  for (const double limit : {0.7, 1.0}) {
    Noise noise(3, Shape::kNormal);
    std::vector<double> times;
    for (int run = 0; run < 200; ++run) {
      times.push_back(noise.next() > limit ? 1032 : 1000);
    }
    const Changes changes = changes_of(times);
    EXPECT_EQ(places_of(changes), (Places{})) << limit;
    EXPECT_GT(changes.noise, 0.015) << limit;
  }
}

TEST(ChangePoints, ASlowDriftIsCutIntoAFewSteps) {
  std::vector<double> times;
  for (int run = 0; run < 200; ++run) {
    times.push_back(1000 * std::exp(0.1 * run / 199));
  }
  const Changes smooth = changes_of(times);
  EXPECT_EQ(places_of(smooth), (Places{18, 51, 84, 117, 150, 183}));
  const Changes rough = changes_of(noisy(times, 0.01, 1));
  EXPECT_GE(rough.change_points.size(), 3);
  EXPECT_LE(rough.change_points.size(), 7);
  for (const ChangePoint& change : rough.change_points) {
    EXPECT_EQ(change.direction, Direction::kSlower);
    EXPECT_GE(change.ratio, 1.01);
  }
}

TEST(ChangePoints, ARunsOwnNoiseRaisesTheNoise) {
  std::vector<Point> runs = runs_of(levels_of({{10, 1000}, {10, 1020}}));
  EXPECT_EQ(find_changes(runs)->change_points.size(), 1);
  for (Point& point : runs) {
    point.noise = 0.05;
  }
  const Changes changes = find_changes(runs).value();
  EXPECT_TRUE(changes.change_points.empty());
  EXPECT_NEAR(changes.noise, 0.05, 1e-12);
}

TEST(ChangePoints, OnlyTheNewestThousandRunsAreRead) {
  const Changes changes = changes_of(levels_of({{700, 900}, {600, 1000}, {400, 1100}}));
  EXPECT_EQ(changes.num_left_out, 700);
  EXPECT_EQ(places_of(changes), (Places{1300}));
  EXPECT_EQ(changes.segments[0].first, 700);
  EXPECT_EQ(changes.segments[0].level_ns, 1000);
  EXPECT_EQ(changes.segments[1].last, 1699);
  EXPECT_EQ(changes.segments[1].level_ns, 1100);
}

TEST(ChangePoints, TheUnitOfTimeChangesNoPlace) {
  const auto times = noisy(levels_of({{30, 1000}, {30, 1050}, {30, 980}}), 0.01, 8);
  std::vector<double> scaled = times;
  for (double& time : scaled) {
    time *= 1024;
  }
  EXPECT_EQ(places_of(changes_of(times)), places_of(changes_of(scaled)));
  EXPECT_EQ(places_of(changes_of(times)).size(), 2);
}

TEST(ChangePoints, NoiseOfAMedianIsThatOfTheQuartilesOverTheRootOfTheSamples) {
  // Of normal values the quartiles are 1.349 deviations apart: 1 % here, and a median strays 1.25
  // times.
  EXPECT_NEAR(noise_of_median(993.255, 1000, 1006.745, 100), 0.0125 / 10, 1e-5);
  EXPECT_EQ(noise_of_median(0, 1000, 1010, 100), 0);
  EXPECT_EQ(noise_of_median(990, 1000, 1010, 0), 0);
}

}  // namespace
}  // namespace assay::history
