// How far the values after a change lie from those before: the estimator of Hodges and Lehmann,
// "Estimates of Location Based on Rank Tests" (1963), the median of all differences, with the
// interval between two of the ordered differences that inverts the Mann-Whitney test (Hollander and
// Wolfe, "Nonparametric Statistical Methods", section 4.3). It assumes the same distribution on
// both sides but for the shift, and no shape; outliers weigh little, and three values on one side
// are enough.
#pragma once

#include <span>

namespace assay::history {

struct Shift {
  double middle = 0;
  double low = 0;
  double high = 0;
  double coverage = 0;  // of [low, high]; below what was asked where the values are too few for it
};

// At least one value on each side.
Shift shift_between(std::span<const double> before, std::span<const double> after, double coverage);

}  // namespace assay::history
