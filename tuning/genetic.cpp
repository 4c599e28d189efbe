#include "tuning/random.h"
#include "tuning/strategies.h"
#include "tuning/untried.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::tuning {
namespace {

using Places = std::vector<std::uint16_t>;

constexpr std::size_t kPopulation = 20;
constexpr int kMaxChildren = 50;  // that are no valid point, or tried, before one at random

// Which point has some places, by search in their order.
class PointIndex {
 public:
  explicit PointIndex(const PointSet& points) : points_(points), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, [&points](std::uint32_t left, std::uint32_t right) {
      return std::ranges::lexicographical_compare(points[left], points[right]);
    });
  }

  std::optional<std::size_t> find(const Places& places) const {
    const auto found = std::lower_bound(
        order_.begin(), order_.end(), places, [this](std::uint32_t point, const Places& wanted) {
          return std::ranges::lexicographical_compare(points_[point], wanted);
        });
    if (found == order_.end() || !std::ranges::equal(points_[*found], places)) {
      return std::nullopt;
    }
    return *found;
  }

 private:
  const PointSet& points_;
  std::vector<std::uint32_t> order_;
};

struct Member {
  std::size_t point = 0;
  double cost = 0;  // infinite: failed
};

// Parents are the better of two members each, a child takes each place from either and changes one
// of them on average, and replaces the worst member when it is better.
class Genetic final : public Strategy {
 public:
  Genetic(const PointSet& points, std::uint64_t seed)
      : points_(points), index_(points), random_(seed), untried_(points.size()) {}

  std::optional<std::size_t> next() override {
    if (population_.size() == kPopulation) {
      for (int i = 0; i < kMaxChildren; ++i) {
        const std::optional<std::size_t> child = index_.find(make_child());
        if (child.has_value() && untried_.has(*child)) {
          untried_.take(*child);
          return child;
        }
      }
    }
    return untried_.take_any(random_);
  }

  void tell(std::size_t point, std::optional<double> cost) override {
    const Member told{point, cost.value_or(std::numeric_limits<double>::infinity())};
    if (population_.size() < kPopulation) {
      population_.push_back(told);
      return;
    }
    const auto worst = std::ranges::max_element(population_, {}, &Member::cost);
    if (told.cost < worst->cost) {
      *worst = told;
    }
  }

 private:
  std::size_t pick_parent() {
    const Member& first = population_[random_.below(population_.size())];
    const Member& second = population_[random_.below(population_.size())];
    return second.cost < first.cost ? second.point : first.point;
  }

  Places make_child() {
    const auto first = points_[pick_parent()];
    const auto second = points_[pick_parent()];
    const std::size_t num_places = first.size();
    Places child(num_places);
    for (std::size_t i = 0; i < num_places; ++i) {
      child[i] = random_.below(2) == 0 ? first[i] : second[i];
      if (random_.below(num_places) == 0) {
        child[i] = static_cast<std::uint16_t>(random_.below(points_.num_values()[i]));
      }
    }
    return child;
  }

  const PointSet& points_;
  PointIndex index_;
  Random random_;
  Untried untried_;
  std::vector<Member> population_;
};

}  // namespace

std::unique_ptr<Strategy> make_genetic(const PointSet& points, std::uint64_t seed) {
  return std::make_unique<Genetic>(points, seed);
}

}  // namespace assay::tuning
