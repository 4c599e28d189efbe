#include "tuning/replay.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace assay::tuning {
namespace {

using Costs = std::vector<std::optional<double>>;

PointSet line_of(std::uint16_t num) {
  PointSet points({num});
  for (std::uint16_t i = 0; i < num; ++i) {
    points.add(std::array{i});
  }
  return points;
}

TEST(Replay, RefusesWhatItCannotReplay) {
  const PointSet points = line_of(3);
  EXPECT_EQ(replay("exhaustive", points, Costs{1.0}, 0, 1).status().message(),
            "costs: expected one for each point");
  EXPECT_EQ(replay("best", points, Costs(3, 1.0), 0, 1).status().code(),
            absl::StatusCode::kNotFound);
  const std::array<std::size_t, 1> tries = {1};
  EXPECT_EQ(mean_best("random", points, Costs(3), tries, 2, 1).status().message(),
            "costs: every configuration failed");
  EXPECT_EQ(mean_best("random", points, Costs(3, 0.0), tries, 2, 1).status().message(),
            "costs: expected only values above 0");
  EXPECT_EQ(mean_best("random", points, Costs(3, 1.0), tries, 0, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Replay, KeepsTheBestAfterEachTry) {
  const PointSet points = line_of(5);
  const Costs costs = {std::nullopt, 4.0, 6.0, 2.0, std::nullopt};
  EXPECT_EQ(*replay("exhaustive", points, costs, 0, 1), (Costs{std::nullopt, 4.0, 4.0, 2.0, 2.0}));
  EXPECT_EQ(*replay("exhaustive", points, costs, 2, 1), (Costs{std::nullopt, 4.0}));
  EXPECT_EQ(replay("exhaustive", points, costs, 99, 1)->size(), 5U);
}

TEST(Replay, MeansTheBestOverSeeds) {
  const PointSet points = line_of(4);
  const Costs costs = {std::nullopt, 4.0, 6.0, 2.0};
  const std::array<std::size_t, 4> tries = {1, 2, 3, 9};
  EXPECT_EQ(*mean_best("exhaustive", points, costs, tries, 3, 1),
            (Costs{std::nullopt, 2.0, 2.0, 1.0}));
  const auto random = mean_best("random", points, Costs{1.0, 1.0, 3.0, 3.0}, tries, 400, 1);
  ASSERT_TRUE(random.ok()) << random.status();
  EXPECT_NEAR(**random->begin(), 2.0, 0.15);
  EXPECT_EQ(random->back(), 1.0);
}

}  // namespace
}  // namespace assay::tuning
