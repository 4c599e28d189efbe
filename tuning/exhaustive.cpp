#include "tuning/strategies.h"

namespace assay::tuning {
namespace {

class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const PointSet& points) : num_points_(points.size()) {}

  std::optional<std::size_t> next() override {
    return next_ < num_points_ ? std::optional(next_++) : std::nullopt;
  }

  void tell(std::size_t /*point*/, std::optional<double> /*cost*/) override {}

 private:
  std::size_t num_points_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const PointSet& points) {
  return std::make_unique<Exhaustive>(points);
}

}  // namespace assay::tuning
