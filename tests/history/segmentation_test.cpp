#include "history/segmentation.h"

#include "tuning/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace assay::history {
namespace {

using Positions = std::vector<std::int32_t>;

// The least cost of a segment at any whole level.
std::int64_t cost_of(const Positions& positions, std::size_t first, std::size_t end) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto [low, high] = std::ranges::minmax(positions);
  for (std::int32_t level = low; level <= high; ++level) {
    std::int64_t cost = 0;
    for (std::size_t index = first; index < end; ++index) {
      const std::int64_t distance = std::min(std::abs(positions[index] - level), kOutlierSteps);
      cost += distance * distance;
    }
    least = std::min(least, cost);
  }
  return least;
}

// Over all ways to cut, one segment after another.
std::int64_t least_cost(const Positions& positions, std::int32_t penalty) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max() / 2;
  std::vector<std::int64_t> costs(positions.size() + 1, kNone);
  costs[0] = -penalty;
  for (std::size_t end = kLeastSegment; end <= positions.size(); ++end) {
    for (std::size_t first = 0; first + kLeastSegment <= end; ++first) {
      costs[end] = std::min(costs[end], costs[first] + penalty + cost_of(positions, first, end));
    }
  }
  return costs.back();
}

std::int64_t cost_of(const Positions& positions,
                     const std::vector<std::size_t>& firsts,
                     std::int32_t penalty) {
  std::int64_t cost = -penalty;
  for (std::size_t segment = 0; segment < firsts.size(); ++segment) {
    const bool is_last = segment + 1 == firsts.size();
    const std::size_t end = is_last ? positions.size() : firsts[segment + 1];
    cost += penalty + cost_of(positions, firsts[segment], end);
  }
  return cost;
}

TEST(Segmentation, CostsWhatTheBestOfAllSegmentationsCosts) {
  tuning::Random random(11);
  constexpr std::int32_t kPenalty = 4 * kStepsPerNoise * kStepsPerNoise;
  int num_cut = 0;
  for (int series = 0; series < 100; ++series) {
    Positions positions;
    std::int32_t level = 0;
    for (std::size_t length = 3 + random.below(14); positions.size() < length;) {
      level = random.below(4) == 0 ? static_cast<std::int32_t>(random.below(150)) : level;
      const bool is_outlier = random.below(8) == 0;
      positions.push_back(level + static_cast<std::int32_t>(random.below(is_outlier ? 120 : 30)));
    }
    const std::vector<std::size_t> firsts = segment(positions, kPenalty);
    EXPECT_EQ(cost_of(positions, firsts, kPenalty), least_cost(positions, kPenalty)) << series;
    num_cut += firsts.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(num_cut, 20);
}

TEST(Segmentation, EverySegmentHasItsLeastLength) {
  const Positions positions = {0, 0, 0, 0, 900, 900, 0, 0, 0, 400, 400, 400, 800, 800};
  std::vector<std::size_t> firsts = segment(positions, kStepsPerNoise * kStepsPerNoise);
  EXPECT_GT(firsts.size(), 2);
  firsts.push_back(positions.size());
  for (std::size_t next = 1; next < firsts.size(); ++next) {
    EXPECT_GE(firsts[next] - firsts[next - 1], kLeastSegment);
  }
}

TEST(Segmentation, AChangeMustSaveThePenalty) {
  // In one segment each is half a noise off its middle.
  const std::int32_t noise = kStepsPerNoise;
  const Positions positions = {0, 0, 0, noise, noise, noise};
  const std::int32_t saved = 6 * (noise / 2) * (noise / 2);
  EXPECT_EQ(segment(positions, saved), (std::vector<std::size_t>{0}));
  EXPECT_EQ(segment(positions, saved - 1), (std::vector<std::size_t>{0, 3}));
}

TEST(Segmentation, DistancesBeyondAnythingDoNotOverflow) {
  const Positions positions = {0, 0, 0, 2'000'000'000, 2'000'000'000, 2'000'000'000};
  EXPECT_EQ(segment(positions, 17 * 256), (std::vector<std::size_t>{0, 3}));
  const Positions falling = {0, 0, 0, -1'000'000'000, -1'000'000'000, -1'000'000'000};
  EXPECT_EQ(segment(falling, 17 * 256), (std::vector<std::size_t>{0, 3}));
}

}  // namespace
}  // namespace assay::history
