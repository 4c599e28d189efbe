#include "tuning/random.h"
#include "tuning/strategies.h"
#include "tuning/untried.h"

namespace assay::tuning {
namespace {

class RandomStrategy final : public Strategy {
 public:
  RandomStrategy(const PointSet& points, std::uint64_t seed)
      : random_(seed), untried_(points.size()) {}

  std::optional<std::size_t> next() override { return untried_.take_any(random_); }

  void tell(std::size_t /*point*/, std::optional<double> /*cost*/) override {}

 private:
  Random random_;
  Untried untried_;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const PointSet& points, std::uint64_t seed) {
  return std::make_unique<RandomStrategy>(points, seed);
}

}  // namespace assay::tuning
