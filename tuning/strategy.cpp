#include "tuning/strategy.h"

#include "tuning/strategies.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace assay::tuning {

std::vector<std::string> strategy_names() {
  return {"exhaustive", "genetic", "random"};
}

absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                        const PointSet& points,
                                                        std::uint64_t seed) {
  if (points.size() == 0) {
    return absl::InvalidArgumentError("points: expected at least one valid configuration");
  }
  if (name.empty() || name == "exhaustive") {
    return make_exhaustive(points);
  }
  if (name == "random") {
    return make_random(points, seed);
  }
  if (name == "genetic") {
    return make_genetic(points, seed);
  }
  return absl::NotFoundError(absl::StrCat("strategy: `",
                                          std::string(name),
                                          "`: expected one of ",
                                          absl::StrJoin(strategy_names(), ", ")));
}

}  // namespace assay::tuning
