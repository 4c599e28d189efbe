#include "client/trace_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::client {
namespace {

Slice slice(std::int64_t start_ns, std::int64_t end_ns, std::size_t parent = Slice::kNoParent) {
  return {.name = "", .start_ns = start_ns, .end_ns = end_ns, .parent = parent, .arguments = ""};
}

// The lane of each slice, by its place in `slices`.
std::vector<std::size_t> lanes_of(const std::vector<Slice>& slices) {
  std::vector<std::size_t> lanes(slices.size());
  for (const PlacedSlice& placed : place_slices(slices)) {
    lanes[placed.slice] = placed.lane;
  }
  return lanes;
}

using Lanes = std::vector<std::size_t>;

TEST(TraceLanes, NestsPartsAndKeepsWhatFollowsOnOneLane) {
  // A call, its two stages, a kernel in each; then another call that begins where the first ends.
  EXPECT_EQ(lanes_of({slice(0, 9),
                      slice(0, 4, 0),
                      slice(0, 4, 1),
                      slice(4, 9, 0),
                      slice(5, 9, 3),
                      slice(9, 12),
                      slice(9, 12, 5)}),
            Lanes({0, 0, 0, 0, 0, 0, 0}));
}

TEST(TraceLanes, PutsAKernelThatBeginsEarlyOnALaneOfItsOwn) {
  EXPECT_EQ(lanes_of({slice(0, 9), slice(0, 5, 0), slice(4, 9, 0), slice(9, 10)}),
            Lanes({0, 0, 1, 0}));
}

TEST(TraceLanes, NestsNothingInWhatItIsNoPartOf) {
  // The second call lies wholly within the first, and the last kernel within the second's.
  EXPECT_EQ(lanes_of({slice(0, 9), slice(2, 5), slice(2, 5, 1), slice(3, 4, 0)}),
            Lanes({0, 1, 1, 0}));
  // A stage that lies within another takes its kernel along.
  EXPECT_EQ(lanes_of({slice(0, 9), slice(0, 8, 0), slice(1, 7, 0), slice(2, 3, 2)}),
            Lanes({0, 0, 1, 1}));
}

TEST(TraceLanes, KeepsTheOrderOfParentsWhereAllBeginAndEndTogether) {
  const std::vector<Slice> slices = {slice(3, 3), slice(3, 3, 0), slice(3, 3, 1), slice(3, 3)};
  const std::vector<PlacedSlice> placed = place_slices(slices);
  ASSERT_EQ(placed.size(), 4U);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    EXPECT_EQ(placed[i].slice, i);
    EXPECT_EQ(placed[i].lane, 0U);
  }
}

TEST(TraceLanes, GivesPartsTheirPlaceWhateverTheirOrderInTheRecord) {
  // The second kernel of the record begins first.
  EXPECT_EQ(lanes_of({slice(1, 9), slice(5, 9, 0), slice(1, 5, 0)}), Lanes({0, 0, 0}));
  EXPECT_TRUE(place_slices({}).empty());
}

}  // namespace
}  // namespace assay::client
