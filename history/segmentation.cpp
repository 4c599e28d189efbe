#include "history/segmentation.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::history {
namespace {

constexpr std::int32_t kImpossible = std::numeric_limits<std::int32_t>::max() / 2;

// All levels that can be best for some segment: between the extremes, and within K of a position.
std::vector<std::int32_t> levels_of(std::span<const std::int32_t> positions) {
  std::vector<std::int32_t> sorted(positions.begin(), positions.end());
  std::ranges::sort(sorted);
  std::vector<std::int32_t> levels;
  std::int32_t next = sorted.front();
  for (const std::int32_t position : sorted) {
    next = std::max(next, position - kOutlierSteps);
    const std::int32_t end = std::min(position + kOutlierSteps, sorted.back());
    for (; next <= end; ++next) {
      levels.push_back(next);
    }
  }
  return levels;
}

// The loss less K^2, which is 0 for an outlier: what a position saves at a level.
std::int32_t saving(std::int32_t position, std::int32_t level) {
  const std::int32_t distance = std::max(position, level) - std::min(position, level);
  return distance < kOutlierSteps ? distance * distance - kOutlierSteps * kOutlierSteps : 0;
}

// The cheapest way to explain the positions up to the newest, for each level of the last segment.
// Costs are less K^2 for each position, so that a position touches only the levels around it, and
// none rises.
class LastSegment {
 public:
  struct Best {
    std::int32_t cost = 0;
    std::size_t start = 0;
  };

  // At first the whole series is one segment of outliers, whatever its level.
  explicit LastSegment(std::vector<std::int32_t> levels)
      : levels_(std::move(levels)), bests_(levels_.size()) {}

  void lengthen(std::int32_t position) {
    const auto [first, end] = levels_near(position);
    for (std::size_t level = first; level < end; ++level) {
      bests_[level].cost += saving(position, levels_[level]);
      keep_least(level);
    }
  }

  // `newest` are the positions from `start` on; `entry` is what it costs to end the segment before.
  // A segment that begins with outliers alone is never better than one that begins later.
  void begin(std::span<const std::int32_t> newest, std::int32_t entry, std::size_t start) {
    for (const std::int32_t near : newest) {
      const auto [first, end] = levels_near(near);
      for (std::size_t level = first; level < end; ++level) {
        std::int32_t cost = entry;
        for (const std::int32_t position : newest) {
          cost += saving(position, levels_[level]);
        }
        if (cost < bests_[level].cost) {
          bests_[level] = {cost, start};
          keep_least(level);
        }
      }
    }
  }

  const Best& best() const { return bests_[least_]; }

 private:
  std::pair<std::size_t, std::size_t> levels_near(std::int32_t position) const {
    const auto first = std::ranges::lower_bound(levels_, position - kOutlierSteps);
    const auto end = std::upper_bound(first, levels_.end(), position + kOutlierSteps);
    return {first - levels_.begin(), end - levels_.begin()};
  }

  void keep_least(std::size_t level) {
    if (bests_[level].cost < bests_[least_].cost) {
      least_ = level;
    }
  }

  std::vector<std::int32_t> levels_;
  std::vector<Best> bests_;  // by level
  std::size_t least_ = 0;
};

}  // namespace

std::vector<std::size_t> segment(std::span<const std::int32_t> positions, std::int32_t penalty) {
  LastSegment last(levels_of(positions));
  // Of the first n positions: their least cost, and where the last of their segments starts.
  std::vector<LastSegment::Best> bests(positions.size() + 1, {kImpossible, 0});
  for (std::size_t n = 1; n <= positions.size(); ++n) {
    last.lengthen(positions[n - 1]);
    if (n < kLeastSegment) {
      continue;
    }
    const std::size_t start = n - kLeastSegment;
    if (start > 0 && bests[start].cost != kImpossible) {
      const auto newest = positions.subspan(start, kLeastSegment);
      last.begin(newest, bests[start].cost + penalty, start);
    }
    bests[n] = last.best();
  }
  std::vector<std::size_t> firsts;
  std::size_t n = positions.size();
  while (n > 0) {
    n = bests[n].start;
    firsts.push_back(n);
  }
  std::ranges::reverse(firsts);
  return firsts;
}

}  // namespace assay::history
