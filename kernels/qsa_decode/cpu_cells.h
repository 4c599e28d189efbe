// What the parts of the chunk stage on cpu share: the cells of a chunk and the levels of the tree
// that join vectors of lanes.
#pragma once

#include "kernels/qsa_decode/cpu_kernels.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

// Cell-major tables hold two vectors of heads for each cell.
inline constexpr int kPaddedHeads = 16;

// The live cells of a chunk: their places and rows in the pool.
struct ChunkCells {
  std::uint64_t live = 0;  // bit i: cell i is there and resident
  std::int32_t count = 0;
  std::int64_t rows[kChunk];

  bool is_live(int cell) const { return ((live >> cell) & 1U) != 0; }
};

template <class V>
struct LaneTree {
  using F8 = typename V::F8;

  // The first two levels of the tree: partners 16 and 8 lanes away.
  template <Mutation kMutation>
  static F8 fold_rows(F8 a, F8 b, F8 c, F8 d) {
    if constexpr (kMutation == Mutation::kWrongPartner) {
      return V::add(V::add(a, b), V::add(c, d));
    }
    return V::add(V::add(a, c), V::add(b, d));
  }
};

}  // namespace assay::kernels::qsa_decode
