#include "history/shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay::history {
namespace {

// Of all orders of `smaller` and `larger` values the share whose Mann-Whitney statistic lies above
// `cut` and below its mirror image, by trying each of them.
double counted_coverage(std::size_t smaller, std::size_t larger, std::size_t cut) {
  std::vector<bool> is_smaller(smaller + larger, false);
  std::fill(is_smaller.end() - static_cast<std::ptrdiff_t>(smaller), is_smaller.end(), true);
  double all = 0;
  double inside = 0;
  do {
    std::size_t statistic = 0;
    std::size_t larger_before = 0;
    for (const bool belongs : is_smaller) {
      statistic += belongs ? larger_before : 0;
      larger_before += belongs ? 0 : 1;
    }
    ++all;
    inside += statistic > cut && statistic < smaller * larger - cut ? 1 : 0;
  } while (std::next_permutation(is_smaller.begin(), is_smaller.end()));
  return inside / all;
}

// 0, 1, 2, ... beside 0: the differences of the two are the numbers themselves, repeated.
std::vector<double> numbers(std::size_t count, double step) {
  std::vector<double> values(count);
  for (std::size_t index = 0; index < count; ++index) {
    values[index] = static_cast<double>(index) * step;
  }
  return values;
}

TEST(Shift, IsTheMedianOfAllDifferences) {
  const std::vector<double> before = {1, 2, 4};
  const std::vector<double> after = {11, 13};
  // 7, 9, 9, 10, 11, 12
  EXPECT_DOUBLE_EQ(shift_between(before, after, 0.99).middle, 9.5);
  EXPECT_DOUBLE_EQ(shift_between(after, before, 0.99).middle, -9.5);
}

TEST(Shift, TooFewValuesHaveTheExtremesAndSayWhatTheyCover) {
  const std::vector<double> before = {1, 2, 3};
  const std::vector<double> after = {11, 12, 13};
  const Shift shift = shift_between(before, after, 0.99);
  EXPECT_DOUBLE_EQ(shift.low, 8);
  EXPECT_DOUBLE_EQ(shift.high, 12);
  // Two of the 20 orders of three and three leave the shift outside.
  EXPECT_DOUBLE_EQ(shift.coverage, 0.9);
}

TEST(Shift, CoverageIsThatOfCountedOrders) {
  for (const auto& [smaller, larger] :
       std::vector<std::pair<std::size_t, std::size_t>>{{3, 10}, {5, 7}, {6, 6}, {7, 9}, {8, 8}}) {
    // Steps of different sizes make all differences distinct, so that the ends say their rank.
    const std::vector<double> before = numbers(smaller, 1000);
    const std::vector<double> after = numbers(larger, 1);
    const Shift shift = shift_between(before, after, 0.95);
    std::vector<double> differences;
    for (const double earlier : before) {
      for (const double later : after) {
        differences.push_back(later - earlier);
      }
    }
    std::ranges::sort(differences);
    const auto cut =
        static_cast<std::size_t>(std::ranges::find(differences, shift.low) - differences.begin());
    EXPECT_EQ(shift.high, differences[differences.size() - 1 - cut]);
    EXPECT_NEAR(shift.coverage, counted_coverage(smaller, larger, cut), 1e-12);
    EXPECT_GE(shift.coverage, 0.95);
    EXPECT_LT(counted_coverage(smaller, larger, cut + 1), 0.95);
  }
}

TEST(Shift, CountedAndNormalRanksMeetWhereOneGivesWayToTheOther) {
  const std::vector<double> twenty = numbers(20, 1000);
  const std::vector<double> more = numbers(21, 1000);
  const std::vector<double> after = numbers(300, 10);
  const Shift counted = shift_between(twenty, after, 0.99);
  const Shift normal = shift_between(more, after, 0.99);
  const auto width = [](const Shift& shift) { return shift.high - shift.low; };
  EXPECT_NEAR(width(counted) / width(normal), 1, 0.05);
  EXPECT_NEAR(counted.coverage, normal.coverage, 1e-3);
}

TEST(Shift, OneOutlierInThreeMovesItLittle) {
  const std::vector<double> before = numbers(50, 0.01);
  const std::vector<double> after = {10.2, 1e6, 10.3};
  const Shift shift = shift_between(before, after, 0.99);
  EXPECT_GT(shift.middle, 9.7);
  EXPECT_LT(shift.middle, 10.4);
}

TEST(Shift, TiesHaveAnIntervalWithoutWidth) {
  const std::vector<double> before(10, 2.0);
  const std::vector<double> after(4, 2.5);
  const Shift shift = shift_between(before, after, 0.99);
  EXPECT_DOUBLE_EQ(shift.low, 0.5);
  EXPECT_DOUBLE_EQ(shift.middle, 0.5);
  EXPECT_DOUBLE_EQ(shift.high, 0.5);
}

}  // namespace
}  // namespace assay::history
