#include "tuning/strategy.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::tuning {
namespace {

// 12 x 9 x 7 places without those whose sum is a multiple of five.
PointSet made_up_points() {
  PointSet points({12, 9, 7});
  for (std::uint16_t a = 0; a < 12; ++a) {
    for (std::uint16_t b = 0; b < 9; ++b) {
      for (std::uint16_t c = 0; c < 7; ++c) {
        if ((a + b + c) % 5 != 0) {
          points.add(std::array{a, b, c});
        }
      }
    }
  }
  return points;
}

// A bowl around (7, 3, 5); some fail. All alike where there are other parameters.
std::optional<double> cost_of(const PointSet& points, std::size_t point) {
  const auto places = points[point];
  if (places.size() != 3) {
    return 1.0;
  }
  if (places[0] == 2) {
    return std::nullopt;
  }
  const auto square = [](int value) { return value * value; };
  return 1.0 + square(places[0] - 7) + square(places[1] - 3) + square(places[2] - 5);
}

std::vector<std::size_t> order_of(const std::string& name,
                                  const PointSet& points,
                                  std::uint64_t seed) {
  auto strategy = make_strategy(name, points, seed);
  EXPECT_TRUE(strategy.ok()) << strategy.status();
  std::vector<std::size_t> order;
  while (const std::optional<std::size_t> point = (*strategy)->next()) {
    order.push_back(*point);
    (*strategy)->tell(*point, cost_of(points, *point));
    if (order.size() > points.size()) {
      break;
    }
  }
  return order;
}

TEST(Strategy, ListsTheNamesWhenOneIsNotKnown) {
  const PointSet points = made_up_points();
  const absl::Status status = make_strategy("annealing", points, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "strategy: `annealing`: expected one of exhaustive, genetic, random");
}

TEST(Strategy, RefusesToWalkNothing) {
  const PointSet points({3});
  for (const std::string& name : strategy_names()) {
    EXPECT_EQ(make_strategy(name, points, 1).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(Strategy, ReachesEveryPointOnce) {
  const PointSet points = made_up_points();
  for (const std::string& name : strategy_names()) {
    const std::vector<std::size_t> order = order_of(name, points, 3);
    EXPECT_EQ(order.size(), points.size()) << name;
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), points.size()) << name;
  }
}

TEST(Strategy, ReachesEveryPointWhenAllFail) {
  const PointSet points = made_up_points();
  for (const std::string& name : strategy_names()) {
    auto strategy = *make_strategy(name, points, 3);
    std::set<std::size_t> reached;
    while (const std::optional<std::size_t> point = strategy->next()) {
      EXPECT_TRUE(reached.insert(*point).second) << name;
      strategy->tell(*point, std::nullopt);
    }
    EXPECT_EQ(reached.size(), points.size()) << name;
  }
}

TEST(Strategy, WalksASinglePoint) {
  PointSet points({1, 1});
  points.add(std::array<std::uint16_t, 2>{0, 0});
  for (const std::string& name : strategy_names()) {
    EXPECT_EQ(order_of(name, points, 5), std::vector<std::size_t>{0}) << name;
  }
}

TEST(Strategy, DependsOnTheSeedAndOnWhatItWasToldAlone) {
  const PointSet points = made_up_points();
  for (const std::string& name : strategy_names()) {
    EXPECT_EQ(order_of(name, points, 3), order_of(name, points, 3)) << name;
    if (name != "exhaustive") {
      EXPECT_NE(order_of(name, points, 3), order_of(name, points, 4)) << name;
    }
  }
}

TEST(Strategy, ExhaustiveKeepsTheOrder) {
  const PointSet points = made_up_points();
  const std::vector<std::size_t> order = order_of("", points, 9);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], i);
  }
}

// A stored sweep is resumed by this order: it must be the same with every compiler and library.
TEST(Strategy, RandomAndGeneticBeginAsTheyAlwaysDid) {
  const PointSet points = made_up_points();
  const auto begin_of = [&points](const std::string& name, std::size_t first) {
    const std::vector<std::size_t> order = order_of(name, points, 1);
    return std::vector<std::size_t>(order.begin() + static_cast<std::ptrdiff_t>(first),
                                    order.begin() + static_cast<std::ptrdiff_t>(first) + 4);
  };
  EXPECT_EQ(begin_of("random", 0), (std::vector<std::size_t>{419, 184, 114, 299}));
  EXPECT_EQ(begin_of("genetic", 20), (std::vector<std::size_t>{133, 369, 472, 356}));
}

TEST(Strategy, GeneticFindsTheBottomOfABowlBeforeRandomDoes) {
  const PointSet points = made_up_points();
  const auto tries_of = [&points](const std::string& name) {
    std::size_t sum = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const std::vector<std::size_t> order = order_of(name, points, seed);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (cost_of(points, order[i]).value_or(9.0) < 2.5) {
          sum += i;
          break;
        }
      }
    }
    return sum;
  };
  EXPECT_LT(2 * tries_of("genetic"), tries_of("random"));
}

}  // namespace
}  // namespace assay::tuning
