// Where slices of time can be drawn. Viewers nest what lies on one track, so that a track may only
// hold slices of which every two are apart, or one is the other's parent or its parent's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::client {

struct Slice {
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;         // not before the start
  std::size_t parent = kNoParent;  // the slice that it is a part of, which comes before it
  std::string arguments;           // members of a JSON object
};

struct PlacedSlice {
  std::size_t slice = 0;
  std::size_t lane = 0;
};

// Every slice on the first lane where it is inside of its parent or inside of nothing; in the order
// in which they begin, a parent before its parts. Slices that lie within each other without being
// parts, as a kernel that begins before the one before it ends, come to lanes of their own.
std::vector<PlacedSlice> place_slices(const std::vector<Slice>& slices);

}  // namespace assay::client
