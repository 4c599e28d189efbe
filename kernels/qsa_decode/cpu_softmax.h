// Softmax within a chunk on cpu, over a vector type V of eight floats: scores become weights in
// place, in either layout, with the same tree over cells.
#pragma once

#include "kernels/qsa_decode/cpu_cells.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

template <class V>
struct ChunkSoftmax {
  using F8 = typename V::F8;

  // Statistics of each head; scores become weights in place.
  static void head_major(const ChunkCells& cells, float* scores, float* m, float* l) {
    for (int head = 0; head < kGroup; ++head) {
      F8 row[8];
      F8 most = V::set1(kEmptyMark);
      for (int i = 0; i < 8; ++i) {
        const auto live = static_cast<std::uint32_t>((cells.live >> (i * 8)) & 0xffU);
        const F8 score = V::load(scores + head * kChunk + i * 8);
        row[i] = V::select(live, score, V::set1(kEmptyMark));
        most = V::max(most, row[i]);
      }
      m[head] = V::max_lane(most);
      for (int i = 0; i < 8; ++i) {
        const auto live = static_cast<std::uint32_t>((cells.live >> (i * 8)) & 0xffU);
        const F8 weight = V::exp(V::sub(row[i], V::set1(m[head])));
        row[i] = V::select(live, weight, V::set1(0.0F));
        V::store(scores + head * kChunk + i * 8, row[i]);
      }
      // Lane i holds e[i] + e[i + 32]; then the tree.
      l[head] = V::tree(LaneTree<V>::template fold_rows<Mutation::kNone>(V::add(row[0], row[4]),
                                                                         V::add(row[1], row[5]),
                                                                         V::add(row[2], row[6]),
                                                                         V::add(row[3], row[7])));
    }
  }

  template <bool kHwExp>
  static F8 weights_of(F8 scores, F8 most) {
    const F8 x = V::sub(scores, most);
    if constexpr (kHwExp) {
      float each[8];
      V::store(each, x);
      for (float& value : each) {
        value = __builtin_expf(value);
      }
      return V::load(each);
    } else {
      return V::exp(x);
    }
  }

  // Heads across lanes: the tree over cells needs no exchange between lanes.
  template <bool kHwExp>
  static void cell_major(const ChunkCells& cells, float* scores, float* m, float* l) {
    for (int half = 0; half < kPaddedHeads; half += 8) {
      F8 most = V::set1(kEmptyMark);
      for (int cell = 0; cell < kChunk; ++cell) {
        if (cells.is_live(cell)) {
          most = V::max(most, V::load(scores + cell * kPaddedHeads + half));
        }
      }
      F8 sums[kChunk];
      for (int cell = 0; cell < kChunk; ++cell) {
        float* place = scores + cell * kPaddedHeads + half;
        sums[cell] = V::set1(0.0F);
        if (cells.is_live(cell)) {
          sums[cell] = weights_of<kHwExp>(V::load(place), most);
        }
        V::store(place, sums[cell]);
      }
      for (int distance = kChunk / 2; distance >= 1; distance /= 2) {
        for (int cell = 0; cell < distance; ++cell) {
          sums[cell] = V::add(sums[cell], sums[cell + distance]);
        }
      }
      V::store(m + half, most);
      V::store(l + half, sums[0]);
    }
  }
};

}  // namespace assay::kernels::qsa_decode
