// The streams that the axes `streams`, `rows`, `committed`, `lengths` and `tree` describe.
#pragma once

#include "kernels/tree_attention/plan.h"

#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {

enum class TreeKind : std::uint8_t { kChain, kStar, kBinary, kRandom, kForest, kLevels, kRoots };

enum class LengthKind : std::uint8_t {
  kEqual,
  kLadder,
  kMixed,
  kAlternating,
  kEdges,
  kNeighbours,
};

struct StreamAxes {
  std::int32_t num_streams = 0;
  std::int32_t rows = 0;
  std::int32_t committed = 0;
  std::int32_t pick = 0;
  LengthKind lengths = LengthKind::kEqual;
  TreeKind tree = TreeKind::kChain;
};

// A stream depends on its number and these axes, not on how many streams there are. Depths are not
// bounded here.
std::vector<Stream> make_streams(const StreamAxes& axes, std::uint64_t seed);

}  // namespace assay::kernels::tree_attention
