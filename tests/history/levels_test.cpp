#include "history/levels.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::history {
namespace {

Regression regression_of(double old_level_ns, double new_level_ns) {
  Regression regression;
  regression.old_level_ns = old_level_ns;
  regression.new_level_ns = new_level_ns;
  regression.num_old_runs = 1000;
  return regression;
}

TEST(Levels, WithoutMuchNoiseTheBarIsTheNoise) {
  const Levels levels(regression_of(1000, 1100), 0.0001, 0.01);
  EXPECT_NEAR(levels.noise_of(1), 0.01, 1e-12);
  EXPECT_EQ(levels.side_of(1009, 1), Side::kOld);
  EXPECT_EQ(levels.side_of(1000, 1), Side::kOld);
  EXPECT_EQ(levels.side_of(991, 1), Side::kOld);
  EXPECT_EQ(levels.side_of(985, 1), Side::kBelowOld);
  EXPECT_EQ(levels.side_of(1030, 1), Side::kBetween);
  EXPECT_EQ(levels.side_of(1060, 1), Side::kNew);
  EXPECT_EQ(levels.side_of(1300, 1), Side::kNew);
}

TEST(Levels, OneRunUnderNoiseCannotTellNearLevelsApartAndMoreCan) {
  const Levels levels(regression_of(1000, 1030), 0.02, 0.01);
  EXPECT_NEAR(levels.noise_of(1), 0.04, 0.001);
  EXPECT_EQ(levels.side_of(1000, 1), Side::kBetween);
  EXPECT_EQ(levels.side_of(1030, 1), Side::kBetween);
  const std::size_t runs = levels.runs_to_tell();
  EXPECT_EQ(runs, 12);
  EXPECT_EQ(levels.side_of(1000, runs), Side::kOld);
  EXPECT_EQ(levels.side_of(1030, runs), Side::kNew);
}

TEST(Levels, AnOldLevelOfFewRunsIsLessCertain) {
  Regression regression = regression_of(1000, 1030);
  regression.num_old_runs = 3;
  const Levels levels(regression, 0.02, 0.01);
  EXPECT_GT(levels.noise_of(1), 0.048);
  EXPECT_EQ(levels.runs_to_tell(), 0);
}

}  // namespace
}  // namespace assay::history
