// The strategies, for make_strategy() alone.
#pragma once

#include "tuning/strategy.h"

#include <cstdint>
#include <memory>

namespace assay::tuning {

// The points in their order.
std::unique_ptr<Strategy> make_exhaustive(const PointSet& points);

// A permutation of the points.
std::unique_ptr<Strategy> make_random(const PointSet& points, std::uint64_t seed);

// A steady-state genetic algorithm over the places of the parameters' values.
std::unique_ptr<Strategy> make_genetic(const PointSet& points, std::uint64_t seed);

}  // namespace assay::tuning
