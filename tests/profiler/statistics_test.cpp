#include "profiler/statistics.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

using Doubles = std::vector<double>;

TEST(Statistics, SayHowManySamplesAreMissing) {
  const Doubles two = {10.0, 12.0};
  EXPECT_EQ(median_interval(two).status().message(), "insufficient samples (have 2, need 11)");
  EXPECT_EQ(median_interval(two).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(median(Doubles{}).status().message(), "insufficient samples (have 0, need 1)");
  EXPECT_FALSE(quartiles(Doubles{}).ok());
  EXPECT_FALSE(mean(Doubles{}).ok());
}

TEST(Statistics, HaveNoDeviationOfOneSample) {
  EXPECT_EQ(sample_deviation(Doubles{10.0}), std::nullopt);
  EXPECT_NEAR(*sample_deviation(Doubles{10.0, 12.0}), 1.41421, 1e-5);
}

TEST(Statistics, KeepTheDigitsOfLargeSamples) {
  for (const double offset : {1e9, 1e10, 1e12}) {
    EXPECT_EQ(sample_deviation(Doubles{offset + 1, offset + 2, offset + 3}), 1.0);
  }
}

TEST(Statistics, TakeTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(*median(Doubles{3, 1, 2}), 2);
  EXPECT_EQ(*median(Doubles{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(*median(std::vector<std::int64_t>{7}), 7);
  const auto found = quartiles(Doubles{5, 1, 4, 2, 3});
  EXPECT_EQ(found->lower, 2);
  EXPECT_EQ(found->median, 3);
  EXPECT_EQ(found->upper, 4);
  EXPECT_EQ(quartiles(Doubles{1, 2})->lower, 1.25);
}

TEST(Statistics, UseTheRanksThatCoverTheMedian) {
  const std::map<std::size_t, std::pair<std::uint32_t, std::uint32_t>> known = {
      {11, {1, 11}}, {12, {1, 12}}, {24, {4, 21}}, {48, {13, 36}}};
  for (const auto& [n, ranks] : known) {
    Doubles samples(n);
    std::iota(samples.rbegin(), samples.rend(), 1.0);
    const auto interval = median_interval(samples);
    ASSERT_TRUE(interval.ok());
    EXPECT_EQ(interval->low_rank, ranks.first) << n;
    EXPECT_EQ(interval->high_rank, ranks.second) << n;
    EXPECT_EQ(interval->low, ranks.first) << n;
    EXPECT_EQ(interval->high, ranks.second) << n;
    EXPECT_GE(interval->coverage, 0.999) << n;
    EXPECT_LT(interval->coverage, 1.0) << n;
  }
  EXPECT_NEAR(median_interval(Doubles(12, 1.0))->coverage, 1 - 2 / 4096.0, 1e-12);
}

TEST(Statistics, CarryAHundredThousandSamples) {
  Doubles samples(100'001);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<double>(i * 7919 % samples.size());
  }
  EXPECT_EQ(*median(samples), 50'000);
  const auto interval = median_interval(samples);
  ASSERT_TRUE(interval.ok());
  EXPECT_LT(interval->low, 50'000);
  EXPECT_GT(interval->high, 50'000);
}

TEST(Statistics, FlagAFirstSampleThatIsCold) {
  EXPECT_TRUE(is_first_sample_cold(Doubles{50, 10, 11, 10}));
  EXPECT_FALSE(is_first_sample_cold(Doubles{19, 10, 11, 10}));
  EXPECT_FALSE(is_first_sample_cold(Doubles{50, 10}));
}

// A public tuning cache whose winner by median is not the one by mean or minimum.
TEST(Statistics, RankThePublicCacheByMedian) {
  std::ifstream file("../shared/data/kernel_tuner/cache_file.json");
  if (!file) {
    GTEST_SKIP() << "../shared/data is not there";
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  google::protobuf::Struct cache;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(text, &cache).ok());

  std::string best_by_median;
  std::string best_by_mean;
  double least_median = HUGE_VAL;
  double least_mean = HUGE_VAL;
  int num_rows = 0;
  for (const auto& [key, row] : cache.fields().at("cache").struct_value().fields()) {
    Doubles samples;
    for (const auto& time : row.struct_value().fields().at("times").list_value().values()) {
      samples.push_back(time.number_value());
    }
    ASSERT_EQ(samples.size(), 7U);
    ++num_rows;
    const double middle = *median(samples);
    const double average = *mean(samples);
    if (key == "128") {
      EXPECT_NEAR(middle, 0.025472, 1e-6);
      EXPECT_NEAR(average, 0.040736, 1e-6);
      EXPECT_NEAR(samples.front() / middle, 4.98, 0.01);
      EXPECT_TRUE(is_first_sample_cold(samples));
    }
    best_by_median = middle < least_median ? key : best_by_median;
    best_by_mean = average < least_mean ? key : best_by_mean;
    least_median = std::min(least_median, middle);
    least_mean = std::min(least_mean, average);
  }
  EXPECT_EQ(num_rows, 15);
  EXPECT_EQ(best_by_median, "896");
  EXPECT_EQ(best_by_mean, "768");
  EXPECT_EQ(kStatistic, "median");
}

}  // namespace
}  // namespace assay::profiler
