// Which points were not tried yet, and one of them at random.
#pragma once

#include "tuning/random.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::tuning {

class Untried {
 public:
  // Of the points 0 to num_points - 1, at most 2^32.
  explicit Untried(std::size_t num_points);

  bool has(std::size_t point) const { return !is_tried_[point]; }

  void take(std::size_t point) { is_tried_[point] = true; }

  // Takes one, each as likely; nullopt: there is none left.
  std::optional<std::size_t> take_any(Random& random);

 private:
  std::vector<std::uint32_t> points_;  // what take_any() has not seen, in no order
  std::vector<bool> is_tried_;
};

}  // namespace assay::tuning
