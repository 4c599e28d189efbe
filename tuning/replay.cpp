#include "tuning/replay.h"

#include "proto/status.h"
#include "tuning/strategy.h"

#include <algorithm>

namespace assay::tuning {
namespace {

absl::StatusOr<double> lowest_of(std::span<const std::optional<double>> costs) {
  std::optional<double> lowest;
  for (const std::optional<double>& cost : costs) {
    if (cost.has_value() && (!lowest.has_value() || *cost < *lowest)) {
      lowest = cost;
    }
  }
  if (!lowest.has_value()) {
    return absl::InvalidArgumentError("costs: every configuration failed");
  }
  if (!(*lowest > 0)) {
    return absl::InvalidArgumentError("costs: expected only values above 0");
  }
  return *lowest;
}

}  // namespace

absl::StatusOr<std::vector<std::optional<double>>> replay(
    std::string_view strategy,
    const PointSet& points,
    std::span<const std::optional<double>> costs,
    std::size_t budget,
    std::uint64_t seed) {
  if (costs.size() != points.size()) {
    return absl::InvalidArgumentError("costs: expected one for each point");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> chosen,
                         make_strategy(strategy, points, seed));
  const std::size_t num_tries = budget == 0 ? points.size() : std::min(budget, points.size());
  std::vector<std::optional<double>> best;
  best.reserve(num_tries);
  std::optional<double> lowest;
  while (best.size() < num_tries) {
    const std::optional<std::size_t> point = chosen->next();
    if (!point.has_value()) {
      break;
    }
    const std::optional<double> cost = costs[*point];
    chosen->tell(*point, cost);
    if (cost.has_value() && (!lowest.has_value() || *cost < *lowest)) {
      lowest = cost;
    }
    best.push_back(lowest);
  }
  return best;
}

absl::StatusOr<std::vector<std::optional<double>>> mean_best(
    std::string_view strategy,
    const PointSet& points,
    std::span<const std::optional<double>> costs,
    std::span<const std::size_t> tries,
    std::size_t num_repeats,
    std::uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const double lowest, lowest_of(costs));
  std::vector<std::optional<double>> means(tries.size(), 0.0);
  if (tries.empty() || num_repeats == 0) {
    return absl::InvalidArgumentError("tries and repeats: expected at least one of each");
  }
  for (std::size_t repeat = 0; repeat < num_repeats; ++repeat) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::optional<double>> best,
                           replay(strategy, points, costs, tries.back(), seed + repeat));
    for (std::size_t i = 0; i < tries.size(); ++i) {
      const std::optional<double>& found = best[std::min(tries[i], best.size()) - 1];
      if (!found.has_value()) {
        means[i] = std::nullopt;
      } else if (means[i].has_value()) {
        *means[i] += *found / lowest;
      }
    }
  }
  for (std::optional<double>& mean : means) {
    if (mean.has_value()) {
      *mean /= static_cast<double>(num_repeats);
    }
  }
  return means;
}

}  // namespace assay::tuning
