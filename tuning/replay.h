// A strategy over points whose cost is known beforehand: what it would have found, and when.
#pragma once

#include "tuning/points.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

// The lowest cost after each try, the first at [0]; nullopt: all failed so far. At most `budget`
// tries; 0: as many as there are points. `costs` has one entry a point, nullopt: it fails.
// NOT_FOUND lists the strategies.
absl::StatusOr<std::vector<std::optional<double>>> replay(
    std::string_view strategy,
    const PointSet& points,
    std::span<const std::optional<double>> costs,
    std::size_t budget,
    std::uint64_t seed);

// The mean over num_repeats seeds from `seed` of (best found / best there is), after each of
// `tries`, ascending, at least 1. nullopt where a repeat had found nothing yet. INVALID_ARGUMENT:
// every point failed, or a cost is not positive.
absl::StatusOr<std::vector<std::optional<double>>> mean_best(
    std::string_view strategy,
    const PointSet& points,
    std::span<const std::optional<double>> costs,
    std::span<const std::size_t> tries,
    std::size_t num_repeats,
    std::uint64_t seed);

}  // namespace assay::tuning
