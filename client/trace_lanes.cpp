#include "client/trace_lanes.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace assay::client {
namespace {

// Slices that are open at the present moment, the innermost last.
using Lane = std::vector<std::size_t>;

// What has ended is no longer open; an empty parent stays open for its empty parts.
void close_ended(Lane& lane, const std::vector<Slice>& slices, const Slice& next) {
  while (!lane.empty() && lane.back() != next.parent &&
         slices[lane.back()].end_ns <= next.start_ns) {
    lane.pop_back();
  }
}

bool is_inside_parent(const Lane& lane, const std::vector<Slice>& slices, const Slice& next) {
  return !lane.empty() && lane.back() == next.parent && slices[next.parent].end_ns >= next.end_ns;
}

std::size_t lane_for(std::vector<Lane>& lanes,
                     const std::vector<Slice>& slices,
                     const Slice& next) {
  for (Lane& lane : lanes) {
    close_ended(lane, slices, next);
  }
  auto found = std::ranges::find_if(
      lanes, [&](const Lane& lane) { return is_inside_parent(lane, slices, next); });
  if (found == lanes.end()) {
    found = std::ranges::find_if(lanes, [](const Lane& lane) { return lane.empty(); });
  }
  if (found == lanes.end()) {
    found = lanes.emplace(lanes.end());
  }
  return static_cast<std::size_t>(found - lanes.begin());
}

}  // namespace

std::vector<PlacedSlice> place_slices(const std::vector<Slice>& slices) {
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(slices[a].start_ns, slices[b].end_ns, a) <
           std::tuple(slices[b].start_ns, slices[a].end_ns, b);
  });
  std::vector<Lane> lanes;
  std::vector<PlacedSlice> placed;
  for (const std::size_t slice : order) {
    const std::size_t lane = lane_for(lanes, slices, slices[slice]);
    lanes[lane].push_back(slice);
    placed.push_back({slice, lane});
  }
  return placed;
}

}  // namespace assay::client
