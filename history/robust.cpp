#include "history/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::history {

double quantile(std::vector<double> values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const double below = std::floor(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double lower = *at;
  if (at + 1 == values.end()) {
    return lower;
  }
  return lower + (place - below) * (*std::min_element(at + 1, values.end()) - lower);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) {
    distances.push_back(std::abs(value - middle));
  }
  return median(std::move(distances)) / kNormalMedian;
}

}  // namespace assay::history
