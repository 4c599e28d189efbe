// In which order the configurations of a space are tried. A strategy is a pure function of the
// points, the seed and what it was told, so that a sweep can be resumed by telling it again.
#pragma once

#include "tuning/points.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

class Strategy {
 public:
  virtual ~Strategy() = default;

  // A point that was not tried yet; nullopt once all were. After each one, tell().
  virtual std::optional<std::size_t> next() = 0;

  // What the point of the last next() cost, lower is better, in any unit that stays the same;
  // nullopt: it failed, which is no cost.
  virtual void tell(std::size_t point, std::optional<double> cost) = 0;
};

// The names, sorted: exhaustive, genetic, random.
std::vector<std::string> strategy_names();

// `points` must outlive the strategy and have at least one. Empty: exhaustive. NOT_FOUND lists the
// names.
absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                        const PointSet& points,
                                                        std::uint64_t seed);

}  // namespace assay::tuning
