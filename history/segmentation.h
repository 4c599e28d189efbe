// Where a series changes its level, in the presence of outliers: the penalised cost with biweight
// loss of Fearnhead and Rigaill, "Changepoint Detection in the Presence of Outliers", Journal of
// the American Statistical Association 114 (2019), equations 1 to 5,
//   minimise  sum over segments of (min over level of sum of min((x - level)^2, K^2)) + penalty,
// solved exactly by dynamic programming over the level of the last segment. All of it is in whole
// numbers, so that the same series has the same answer everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::history {

// Positions and levels are multiples of a sixteenth of the noise.
inline constexpr std::int32_t kStepsPerNoise = 16;
// K: from here on an outlier costs the same however far off it is.
inline constexpr std::int32_t kOutlierSteps = 3 * kStepsPerNoise;
// A change is claimed with its third run, not before.
inline constexpr std::size_t kLeastSegment = 3;

// First index of every segment, the first of which is 0. `penalty` is what a change must save, in
// squared steps. Needs at least kLeastSegment positions.
std::vector<std::size_t> segment(std::span<const std::int32_t> positions, std::int32_t penalty);

}  // namespace assay::history
