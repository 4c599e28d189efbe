// Robust figures of a few numbers.
#pragma once

#include <numbers>
#include <vector>

namespace assay::history {

// Of a standard normal distribution: the median and the upper quartile of its absolute value.
inline constexpr double kNormalMedian = 0.674490;
inline constexpr double kNormalUpper = 1.150349;
// How much more a median strays than a mean, of normal values.
inline constexpr double kMedianVariance = std::numbers::pi / 2;

// Linear between order statistics (at `share` of n - 1); at least one value.
double quantile(std::vector<double> values, double share);

// The middle one, or the mean of the middle two; at least one value.
double median(std::vector<double> values);

// The median distance from the median, scaled to the deviation of normal values.
double spread(const std::vector<double>& values);

}  // namespace assay::history
