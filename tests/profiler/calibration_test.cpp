#include "tests/profiler/simulation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace assay::profiler {
namespace {

void print(Noise noise, double ratio, const Tally& tally) {
  std::printf("| %-30s | %.2f | %6d | %6d | %4d | %9d | %9d | %4.1f |\n",
              std::string(name_of(noise)).c_str(),
              ratio,
              tally.num_faster,
              tally.num_slower,
              tally.num_same,
              tally.num_undecided,
              tally.num_two_modes,
              static_cast<double>(tally.num_rounds) / tally.num_experiments);
}

class Calibration : public testing::TestWithParam<Noise> {};

TEST_P(Calibration, ClaimsAtMostOneOfAThousandEqualPairs) {
  const Tally tally = simulate(GetParam(), 1.0, 1000);
  print(GetParam(), 1.0, tally);
  EXPECT_EQ(tally.num_experiments, 1000);
  EXPECT_LE(tally.num_faster + tally.num_slower, 1);
}

TEST_P(Calibration, FindsThreePercentOrSaysThatThereAreTwoModes) {
  for (const double ratio : {0.97, 1.03}) {
    const Tally tally = simulate(GetParam(), ratio, 1000);
    print(GetParam(), ratio, tally);
    if (has_modes(GetParam())) {
      EXPECT_EQ(tally.num_two_modes, 1000);
    } else {
      EXPECT_GE(ratio < 1 ? tally.num_faster : tally.num_slower, 950);
      EXPECT_EQ(ratio < 1 ? tally.num_slower : tally.num_faster, 0);
    }
  }
}

// The whole rule: a floor of a control like any other is stored.
TEST_P(Calibration, KeepsItsLimitsWithAStoredFloor) {
  JudgeOptions options;
  options.noise_floor = simulated_floor(GetParam());
  EXPECT_GT(options.noise_floor->num_rounds(), 0U);
  const Tally equal = simulate(GetParam(), 1.0, 1000, options);
  print(GetParam(), 1.0, equal);
  EXPECT_LE(equal.num_faster + equal.num_slower, 1);
  const Tally slower = simulate(GetParam(), 1.03, 1000, options);
  print(GetParam(), 1.03, slower);
  if (has_modes(GetParam())) {
    EXPECT_EQ(slower.num_two_modes, 1000);
  } else {
    EXPECT_GE(slower.num_slower, 950);
    EXPECT_EQ(slower.num_faster, 0);
  }
}

TEST(Power, OfLittleNoiseFindsOnePercentAndOfMuchNoiseTwo) {
  JudgeOptions options;
  options.least_effect = 0.0025;
  options.noise_floor = simulated_floor(Noise::kHalfPercent);
  EXPECT_GE(simulate(Noise::kHalfPercent, 1.01, 200, options).num_slower, 199);
  options.noise_floor = simulated_floor(Noise::kTwoPercent);
  EXPECT_GE(simulate(Noise::kTwoPercent, 1.02, 200, options).num_slower, 190);
  // As large as the least effect: hardly ever claimed, and never on the wrong side.
  options.least_effect = 0.01;
  options.noise_floor = simulated_floor(Noise::kHalfPercent);
  const Tally at_the_bar = simulate(Noise::kHalfPercent, 1.01, 200, options);
  EXPECT_LE(at_the_bar.num_slower, 2);
  EXPECT_EQ(at_the_bar.num_faster, 0);
}

INSTANTIATE_TEST_SUITE_P(Every, Calibration, testing::ValuesIn(kAllNoises));

}  // namespace
}  // namespace assay::profiler
