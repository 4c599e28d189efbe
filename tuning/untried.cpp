#include "tuning/untried.h"

#include <numeric>

namespace assay::tuning {

Untried::Untried(std::size_t num_points) : points_(num_points), is_tried_(num_points, false) {
  std::iota(points_.begin(), points_.end(), 0U);
}

std::optional<std::size_t> Untried::take_any(Random& random) {
  while (!points_.empty()) {
    std::uint32_t& drawn = points_[random.below(points_.size())];
    const std::size_t point = drawn;
    drawn = points_.back();
    points_.pop_back();
    if (has(point)) {
      take(point);
      return point;
    }
  }
  return std::nullopt;
}

}  // namespace assay::tuning
