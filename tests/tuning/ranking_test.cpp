#include "tuning/ranking.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::tuning {
namespace {

v1::RecordedRow row_of(const std::vector<double>& samples_ns, double time_ns = 0) {
  v1::RecordedRow row;
  row.mutable_samples_ns()->Add(samples_ns.begin(), samples_ns.end());
  row.set_has_time(time_ns > 0);
  row.set_time_ns(time_ns);
  return row;
}

// `num` samples from `first` in steps of one.
std::vector<double> ramp(double first, int num) {
  std::vector<double> samples;
  for (int i = 0; i < num; ++i) {
    samples.push_back(first + i);
  }
  return samples;
}

std::vector<std::size_t> ties_of(const std::vector<v1::RecordedRow>& rows, Statistic statistic) {
  std::vector<std::size_t> ties;
  for (const RankedRow& row : rank(rows, statistic).ties) {
    ties.push_back(row.row);
  }
  return ties;
}

using Rows = std::vector<std::size_t>;

TEST(Ranking, ListsTheStatisticsWhenOneIsNotKnown) {
  EXPECT_EQ(parse_statistic("mode").status().message(),
            "objective: `mode`: expected one of mean, median, time");
  for (const std::string name : {"mean", "median", "time"}) {
    EXPECT_EQ(statistic_name(*parse_statistic(name)), name);
  }
}

TEST(Ranking, LeavesOutWhatFailedOrHasNoSuchStatistic) {
  std::vector<v1::RecordedRow> rows = {row_of({5}), row_of({1}), row_of({}), row_of({}, 3)};
  rows[1].set_failure(v1::RUNTIME);
  const Ranking ranking = rank(rows, Statistic::kMedian);
  EXPECT_EQ(ties_of(rows, Statistic::kMedian), Rows{0});
  EXPECT_EQ(ranking.num_ranked, 1U);
  EXPECT_EQ(ranking.num_missing, 2U);
  EXPECT_EQ(ranking.failures.at(v1::RUNTIME), 1U);
  EXPECT_EQ(ties_of(rows, Statistic::kTime), Rows{3});
  rows[0].set_failure(v1::COMPILE);
  EXPECT_TRUE(rank(rows, Statistic::kMedian).ties.empty());
}

TEST(Ranking, LeavesOutTimesThatAreNotAboveZero) {
  const std::vector<v1::RecordedRow> rows = {row_of({0, 0, 5}), row_of({-1}), row_of({7})};
  EXPECT_EQ(ties_of(rows, Statistic::kMedian), Rows{2});
  EXPECT_EQ(ties_of(rows, Statistic::kMean), Rows{0});
  EXPECT_EQ(rank(rows, Statistic::kMedian).num_missing, 2U);
}

TEST(Ranking, NamesAnotherWinnerByMeanThanByMedian) {
  const std::vector<v1::RecordedRow> rows = {row_of({9, 9, 9}), row_of({8, 8, 30})};
  EXPECT_EQ(ties_of(rows, Statistic::kMedian), Rows{1});
  EXPECT_EQ(ties_of(rows, Statistic::kMean), Rows{0});
}

TEST(Ranking, TiesOnlyEqualValuesOfTooFewSamples) {
  const std::vector<v1::RecordedRow> rows = {
      row_of({8, 9, 10, 8, 9, 10, 9}), row_of({9, 9, 9}), row_of({9, 9.5})};
  EXPECT_EQ(ties_of(rows, Statistic::kMedian), (Rows{0, 1}));
}

TEST(Ranking, TiesRowsWhoseIntervalReachesThatOfTheWinner) {
  // Of 8 samples the interval is all of them; of 11, that too; of 12, all but one at each end.
  EXPECT_EQ(ties_of({row_of(ramp(107, 8)), row_of(ramp(108, 8)), row_of(ramp(100, 8))},
                    Statistic::kMedian),
            (Rows{2, 0}));
  EXPECT_EQ(ties_of({row_of(ramp(110, 11)), row_of(ramp(100, 11))}, Statistic::kMedian),
            (Rows{1, 0}));
  EXPECT_EQ(ties_of({row_of(ramp(109, 12)), row_of(ramp(110, 12)), row_of(ramp(100, 12))},
                    Statistic::kMedian),
            (Rows{2, 0}));
}

TEST(Ranking, StatedTimesHaveNoNoise) {
  const std::vector<v1::RecordedRow> rows = {
      row_of(ramp(100, 32), 8), row_of(ramp(1, 32), 9), row_of(ramp(1, 32), 8)};
  EXPECT_EQ(ties_of(rows, Statistic::kTime), (Rows{0, 2}));
}

}  // namespace
}  // namespace assay::tuning
