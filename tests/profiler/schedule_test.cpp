#include "profiler/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace assay::profiler {
namespace {

constexpr ArmRole kA = ArmRole::kBaseline;
constexpr ArmRole kB = ArmRole::kCandidate;

TEST(Schedule, IsBabWhenUnspecified) {
  const std::vector<ArmRole> bab = {kB, kA, kB};
  for (std::uint32_t round = 0; round < 8; ++round) {
    EXPECT_EQ(round_legs(v1::SCHEDULE_UNSPECIFIED, round, 3), bab);
    EXPECT_EQ(round_legs(v1::BAB, round, round), bab);
  }
}

TEST(Schedule, LetsEachArmLeadOneOfEveryTwoRounds) {
  for (const v1::Schedule schedule : {v1::AB, v1::ABBA}) {
    for (std::uint32_t round = 0; round < 48; round += 2) {
      const auto first = round_legs(schedule, round, 11);
      const auto second = round_legs(schedule, round + 1, 11);
      EXPECT_NE(first.front(), second.front()) << round;
    }
  }
}

TEST(Schedule, KeepsAbbaSymmetric) {
  for (std::uint32_t round = 0; round < 48; ++round) {
    const auto legs = round_legs(v1::ABBA, round, 5);
    ASSERT_EQ(legs.size(), 4U);
    EXPECT_EQ(legs[0], legs[3]);
    EXPECT_EQ(legs[1], legs[2]);
    EXPECT_NE(legs[0], legs[1]);
  }
}

TEST(Schedule, TakesTheLeaderFromTheSeed) {
  std::set<std::vector<bool>> orders;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<bool> order;
    for (std::uint32_t round = 0; round < 48; ++round) {
      order.push_back(round_legs(v1::AB, round, seed).front() == kB);
      EXPECT_EQ(round_legs(v1::AB, round, seed), round_legs(v1::AB, round, seed));
    }
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 8U);
}

TEST(Schedule, MeasuresOneArmAlone) {
  EXPECT_EQ(measure_legs(), std::vector<ArmRole>{kA});
}

TEST(Random, IsAFunctionOfSeedStreamAndIndex) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 10; ++i) {
    seen.insert({random_bits(i, 0, 0), random_bits(0, i + 1, 0), random_bits(0, 0, i + 1)});
    EXPECT_EQ(random_bits(i, 2, 3), random_bits(i, 2, 3));
  }
  EXPECT_EQ(seen.size(), 30U);
}

TEST(Random, IsUniformEnoughForACoin) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double value = random_uniform(1, 2, i);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.01);
}

}  // namespace
}  // namespace assay::profiler
