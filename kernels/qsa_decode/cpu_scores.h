// Scores of a chunk's cells on cpu, over a vector type V of eight floats: a lane's chain of eight
// products, then the tree over 32 lanes. The forms differ in how many cells meet a load of q and in
// where the tree runs.
#pragma once

#include "kernels/qsa_decode/cpu_cells.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

template <class V>
struct ChunkScores {
  using F8 = typename V::F8;
  using Tree = LaneTree<V>;

  static constexpr int kRows = 4;  // vectors of eight lanes in a row of 32

  // q by dim of a lane: at[(head * 8 + j) * 4 + v] holds dim j of lanes 8v .. 8v + 7.
  struct Queries {
    F8 at[kGroup * kDimsPerLane * kRows];
  };

  static void load_queries(const float* q, Queries* queries) {
    for (int head = 0; head < kGroup; ++head) {
      for (int v = 0; v < kRows; ++v) {
        F8 columns[8];
        V::transpose(q + head * kHeadDim + v * 64, columns);
        for (int j = 0; j < kDimsPerLane; ++j) {
          queries->at[(head * kDimsPerLane + j) * kRows + v] = columns[j];
        }
      }
    }
  }

  // The chain of one lane: index 1 is the plain product, then 0 and 2 to 7.
  static F8 chain(const F8* keys, const F8* queries, int stride) {
    F8 sum = V::mul(keys[1], queries[stride]);
    sum = V::fma(keys[0], queries[0], sum);
#pragma GCC unroll 6
    for (int j = 2; j < kDimsPerLane; ++j) {
      sum = V::fma(keys[j], queries[j * stride], sum);
    }
    return sum;
  }

  // Adding +0 makes -0 of a score +0, so that a maximum does not depend on the order of operands.
  template <Mutation kMutation>
  static F8 scaled(F8 sums) {
    constexpr float kScale =
        kMutation == Mutation::kScoreScaleOffBySixteenth ? kScoreScale * 1.0625F : kScoreScale;
    return V::add(V::mul(sums, V::set1(kScale)), V::set1(0.0F));
  }

  // ---- Scores, head-major: scores[head * 64 + cell] ----

  // One cell at a time, a full butterfly for each head.
  template <KvFormat kFormat, Mutation kMutation>
  static void score_one_cell(const Params& params,
                             const Queries& queries,
                             const ChunkCells& cells,
                             float* scores) {
    for (int cell = 0; cell < kChunk; ++cell) {
      if (!cells.is_live(cell)) {
        continue;
      }
      F8 keys[kRows * kDimsPerLane];
      V::template load_key<kFormat>(params, cells.rows[cell], keys);
      for (int head = 0; head < kGroup; ++head) {
        const F8* q = queries.at + head * kDimsPerLane * kRows;
        F8 rows[kRows];
        for (int v = 0; v < kRows; ++v) {
          rows[v] = chain(keys + v * kDimsPerLane, q + v, kRows);
        }
        const float sum =
            V::tree(Tree::template fold_rows<kMutation>(rows[0], rows[1], rows[2], rows[3]));
        constexpr float kScale =
            kMutation == Mutation::kScoreScaleOffBySixteenth ? kScoreScale * 1.0625F : kScoreScale;
        scores[head * kChunk + cell] = sum * kScale + 0.0F;
      }
    }
  }

  // The tree of lane partials in registers: node<S>(l) sums lanes l, l + S, l + 2S and so on, each
  // for eight cells and three heads.
  struct ThreeHeads {
    F8 at[3];
  };

  template <int kStep>
  static ThreeHeads node(const F8* keys, const float* q, int lane) {
    ThreeHeads sum;
    if constexpr (kStep == kLanes) {
      const F8* lane_keys = keys + lane * kDimsPerLane;
      const float* lane_q = q + lane * kDimsPerLane;
#pragma GCC unroll 3
      for (int head = 0; head < 3; ++head) {
        const float* dims = lane_q + head * kHeadDim;
        F8 t = V::mul(lane_keys[1], V::set1(dims[1]));
        t = V::fma(lane_keys[0], V::set1(dims[0]), t);
#pragma GCC unroll 6
        for (int j = 2; j < kDimsPerLane; ++j) {
          t = V::fma(lane_keys[j], V::set1(dims[j]), t);
        }
        sum.at[head] = t;
      }
    } else {
      const ThreeHeads a = node<kStep * 2>(keys, q, lane);
      const ThreeHeads b = node<kStep * 2>(keys, q, lane + kStep);
#pragma GCC unroll 3
      for (int head = 0; head < 3; ++head) {
        sum.at[head] = V::add(a.at[head], b.at[head]);
      }
    }
    return sum;
  }

  // Cells across the lanes of a vector, three heads at a time.
  template <KvFormat kFormat>
  static void score_lane_cell(const Params& params,
                              const float* q,
                              const ChunkCells& cells,
                              float* scores) {
    for (int first = 0; first < kChunk; first += 8) {
      const auto live = static_cast<std::uint32_t>((cells.live >> first) & 0xffU);
      if (live == 0) {
        continue;
      }
      // A masked cell is never read: a live one stands in and its score is not used.
      std::int64_t rows[8];
      const int stand_in = first + __builtin_ctz(live);
      for (int i = 0; i < 8; ++i) {
        rows[i] = cells.rows[cells.is_live(first + i) ? first + i : stand_in];
      }
      F8 keys[kHeadDim];
      V::template load_keys<kFormat>(params, rows, keys);
      for (int head = 0; head < kGroup; head += 3) {
        const ThreeHeads sum = node<1>(keys, q + head * kHeadDim, 0);
        for (int i = 0; i < 3; ++i) {
          V::store(scores + (head + i) * kChunk + first, scaled<Mutation::kNone>(sum.at[i]));
        }
      }
    }
  }

  // ---- Scores, cell-major: scores[cell * 16 + head] ----

  // kCells cells share each load of q; the tree is a reduce-scatter over heads.
  template <KvFormat kFormat, Mutation kMutation, int kCells>
  static void score_step(const Params& params,
                         const Queries& queries,
                         const std::int64_t* rows,
                         float* scores) {
    constexpr int kHeadsAtOnce = kCells == 1 ? 12 : kCells == 2 ? 6 : kCells == 4 ? 3 : 1;
    F8 keys[kCells][kRows * kDimsPerLane];
    for (int cell = 0; cell < kCells; ++cell) {
      V::template load_key<kFormat>(params, rows[cell], keys[cell]);
    }
    F8 partials[kRows][kCells * kGroup];
    for (int v = 0; v < kRows; ++v) {
      for (int first = 0; first < kGroup; first += kHeadsAtOnce) {
        const F8* q = queries.at + first * kDimsPerLane * kRows + v;
        F8 sums[kHeadsAtOnce * kCells];
#pragma GCC unroll 8
        for (int step = 0; step < kDimsPerLane; ++step) {
          const int j = step == 0 ? 1 : step == 1 ? 0 : step;
#pragma GCC unroll 12
          for (int head = 0; head < kHeadsAtOnce; ++head) {
            const F8 dim = q[(head * kDimsPerLane + j) * kRows];
#pragma GCC unroll 8
            for (int cell = 0; cell < kCells; ++cell) {
              F8& sum = sums[head * kCells + cell];
              const F8 key = keys[cell][v * kDimsPerLane + j];
              sum = step == 0 ? V::mul(key, dim) : V::fma(key, dim, sum);
            }
          }
        }
#pragma GCC unroll 12
        for (int head = 0; head < kHeadsAtOnce; ++head) {
#pragma GCC unroll 8
          for (int cell = 0; cell < kCells; ++cell) {
            partials[v][cell * kGroup + first + head] = sums[head * kCells + cell];
          }
        }
      }
    }
    // Twelve heads padded to sixteen, in two groups of eight.
    for (int cell = 0; cell < kCells; ++cell) {
      F8 sums[kPaddedHeads];
      for (int head = 0; head < kGroup; ++head) {
        const int i = cell * kGroup + head;
        sums[head] = Tree::template fold_rows<kMutation>(
            partials[0][i], partials[1][i], partials[2][i], partials[3][i]);
      }
      for (int head = kGroup; head < kPaddedHeads; ++head) {
        sums[head] = V::set1(0.0F);
      }
      V::store(scores + cell * kPaddedHeads, scaled<kMutation>(V::tree8(sums)));
      V::store(scores + cell * kPaddedHeads + 8, scaled<kMutation>(V::tree8(sums + 8)));
    }
  }

  // A step with a masked cell is taken one cell at a time.
  template <KvFormat kFormat, Mutation kMutation, int kCells>
  static void score_cells(const Params& params,
                          const Queries& queries,
                          ChunkCells* cells,
                          float* scores) {
    constexpr std::uint64_t kAll = (std::uint64_t{1} << kCells) - 1;
    for (int first = 0; first < kChunk; first += kCells) {
      const std::uint64_t live = (cells->live >> first) & kAll;
      if (live == kAll) {
        score_step<kFormat, kMutation, kCells>(
            params, queries, cells->rows + first, scores + first * kPaddedHeads);
        continue;
      }
      if constexpr (kMutation == Mutation::kMaskedTakesNeighbour) {
        cells->live &= ~(kAll << first);
        continue;
      }
      for (int cell = first; cell < first + kCells; ++cell) {
        if (cells->is_live(cell)) {
          score_step<kFormat, kMutation, 1>(
              params, queries, cells->rows + cell, scores + cell * kPaddedHeads);
        }
      }
    }
  }
};

}  // namespace assay::kernels::qsa_decode
