// The attend stage on cpu, over a vector type V of eight floats: the states of a tile of pairs in
// one group. Keys are expanded once for all pairs of the tile: eight at a time for q . K, eight
// dims of a slice at a time for p . V. Written without the standard library, so that nothing
// compiled here for one instruction set is shared with another.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/attention/cpu_operands.h"
#include "kernels/attention/softmax.h"
#include "kernels/attention/tensor_core.h"

#include <cstdint>

namespace assay::kernels::attention {

template <class V, Family kFamily, EngineMutation kMutation>
struct AttendStage {
  using F8 = typename V::F8;

  static constexpr int kSliceBlocks = kSliceKeys / 8;
  static constexpr int kSliceSteps = kSliceKeys / kStepKeys;

  // Of one pair.
  struct Left {
    alignas(32) float q[kMostDim];
    alignas(32) std::int16_t q_exponents[kMostDim];
    alignas(32) float weights[kSliceKeys];  // scores before; for the steps rounded to bf16
    alignas(32) std::int16_t weight_exponents[kSliceKeys];
    alignas(32) float o[kMostDim];  // of the slice
    KeyRange seen;                  // of the slice's keys
    float m;
    float l;
    bool has_group;  // the group's state is not empty
  };

  struct Storage {
    Left left[kMostTilePairs];
    alignas(32) float values[8 * kMostDim];
    alignas(32) std::int16_t exponents[8 * kMostDim];
    std::uint16_t zeros[kMostDim];

    RightStorage right() { return {.values = values, .exponents = exponents}; }

    RightBlock block() const { return {.values = values, .exponents = exponents}; }
  };

  static std::int32_t clip(std::int32_t value, std::int32_t most) {
    return value < 0 ? 0 : value < most ? value : most;
  }

  static void attend(const GroupTile& tile) {
    Storage storage;
    for (std::uint16_t& bits : storage.zeros) {
      bits = 0;
    }
    for (int pair = 0; pair < tile.num_pairs; ++pair) {
      Left& left = storage.left[pair];
      V::expand_left(tile.pairs[pair].q, tile.dim, left.q, left.q_exponents);
      left.has_group = false;
    }
    for (int turn = 0; turn < kSlices; ++turn) {
      constexpr bool kReverse = kMutation == EngineMutation::kSlicesInReverse;
      const int slice = kReverse ? kSlices - 1 - turn : turn;
      if (kMutation == EngineMutation::kDropsFourthSlice && slice == kSlices - 1) {
        continue;
      }
      attend_slice(tile, slice * kSliceKeys, &storage);
    }
  }

  static void attend_slice(const GroupTile& tile, std::int32_t first, Storage* storage) {
    KeyRange all = {.begin = kSliceKeys, .end = 0};
    for (int pair = 0; pair < tile.num_pairs; ++pair) {
      const KeyRange keys = tile.pairs[pair].keys;
      KeyRange& seen = storage->left[pair].seen;
      seen = {.begin = clip(keys.begin - first, kSliceKeys),
              .end = clip(keys.end - first, kSliceKeys)};
      if (seen.begin < seen.end) {
        all.begin = seen.begin < all.begin ? seen.begin : all.begin;
        all.end = seen.end > all.end ? seen.end : all.end;
      }
    }
    if (all.begin >= all.end) {
      return;
    }
    score(tile, first, all, storage);
    for (int pair = 0; pair < tile.num_pairs; ++pair) {
      weigh(tile.scale, &storage->left[pair]);
    }
    add_values(tile, first, all, storage);
    for (int pair = 0; pair < tile.num_pairs; ++pair) {
      fold(tile.dim, tile.pairs[pair], &storage->left[pair]);
    }
  }

  // ---- Scores ----

  static void score(const GroupTile& tile, std::int32_t first, KeyRange all, Storage* storage) {
    for (int block = all.begin / 8; block * 8 < all.end; ++block) {
      const std::uint16_t* rows[8];
      for (int key = 0; key < 8; ++key) {
        const std::uint16_t* row = tile.k[first + block * 8 + key];
        rows[key] = row == nullptr ? storage->zeros : row;
      }
      V::expand_keys(rows, tile.dim, storage->right());
      for_pairs(tile.num_pairs, storage, block * 8, 8, [&](auto count, Left* const* left) {
        dot<decltype(count)::kCount>(tile.dim, storage->block(), left, block * 8);
      });
    }
  }

  template <int kRows>
  static void dot(int dim, const RightBlock& right, Left* const* left, int first_key) {
    LeftRow rows[kRows];
    F8 acc[kRows];
    for (int row = 0; row < kRows; ++row) {
      rows[row] = {.values = left[row]->q, .exponents = left[row]->q_exponents};
      acc[row] = V::set1(0.0F);
    }
    for (int step = 0; step < dim / kStepTerms; ++step) {
      multiply<kRows>(rows, right, step, acc);
    }
    for (int row = 0; row < kRows; ++row) {
      V::store(left[row]->weights + first_key, acc[row]);
    }
  }

  template <int kRows>
  static void multiply(const LeftRow* left, const RightBlock& right, int step, F8* acc) {
    if constexpr (kFamily == Family::kTensorCore) {
      V::template step<kRows>(left, right, step, acc);
    } else {
      for (int k = step * kStepTerms; k < (step + 1) * kStepTerms; ++k) {
        const F8 column = V::load(right.values + k * 8);
        for (int row = 0; row < kRows; ++row) {
          acc[row] = V::fma(V::set1(left[row].values[k]), column, acc[row]);
        }
      }
    }
  }

  // ---- Softmax ----

  static void weigh(float scale, Left* left) {
    const KeyRange seen = left->seen;
    if (seen.begin >= seen.end) {
      return;
    }
    const F8 lowest = V::set1(-__builtin_inff());
    F8 most = lowest;
    for (int block = seen.begin / 8; block * 8 < seen.end; ++block) {
      float* at = left->weights + block * 8;
      const F8 scores = V::fma(V::load(at), V::set1(scale), V::set1(0.0F));
      V::store(at, scores);
      most = V::max(V::select(seen.begin - block * 8, seen.end - block * 8, scores, lowest), most);
    }
    float lanes[8];
    V::store(lanes, most);
    float max = lanes[0];
    for (const float lane : lanes) {
      max = larger_of(lane, max);
    }

    const F8 none = V::set1(0.0F);
    F8 sum = none;
    for (int block = 0; block < kSliceBlocks; ++block) {
      float* at = left->weights + block * 8;
      F8 weights = none;
      if (block * 8 < seen.end && block * 8 + 8 > seen.begin) {
        weights = V::select(seen.begin - block * 8,
                            seen.end - block * 8,
                            V::exp(V::add(V::load(at), V::set1(-max))),
                            none);
      }
      V::store(at, weights);
      sum = V::add(sum, weights);
    }
    V::store(lanes, sum);
    left->m = max;
    left->l = sum_of_lanes(lanes);
    if constexpr (kFamily == Family::kTensorCore) {
      std::uint16_t rounded[kSliceKeys];
      for (int key = 0; key < kSliceKeys; key += 8) {
        V::store_bf16(rounded + key, V::load(left->weights + key));
      }
      V::expand_left(rounded, kSliceKeys, left->weights, left->weight_exponents);
    }
  }

  // ---- Values ----

  static void add_values(const GroupTile& tile,
                         std::int32_t first,
                         KeyRange all,
                         Storage* storage) {
    const std::uint16_t* rows[kSliceKeys];
    for (int key = 0; key < kSliceKeys; ++key) {
      const std::uint16_t* row = tile.v[first + key];
      rows[key] = row == nullptr ? storage->zeros : row;
    }
    const int first_step = all.begin / kStepKeys;
    const int end_step = (all.end + kStepKeys - 1) / kStepKeys;
    const RightStorage right = storage->right();
    for (int dim = 0; dim < tile.dim; dim += 8) {
      const int key = first_step * kStepKeys;
      V::expand_values(rows + key,
                       end_step * kStepKeys - key,
                       dim,
                       {.values = right.values + key * 8, .exponents = right.exponents + key * 8});
      for_pairs(tile.num_pairs, storage, 0, kSliceKeys, [&](auto count, Left* const* left) {
        weighted<decltype(count)::kCount>(storage->block(), left, dim);
      });
    }
  }

  // A step whose keys are all masked leaves the sum as it is, and is left out.
  template <int kRows>
  static void weighted(const RightBlock& right, Left* const* left, int dim) {
    LeftRow rows[kRows];
    F8 acc[kRows];
    std::int32_t begin = kSliceKeys;
    std::int32_t end = 0;
    for (int row = 0; row < kRows; ++row) {
      rows[row] = {.values = left[row]->weights, .exponents = left[row]->weight_exponents};
      acc[row] = V::set1(0.0F);
      begin = left[row]->seen.begin < begin ? left[row]->seen.begin : begin;
      end = left[row]->seen.end > end ? left[row]->seen.end : end;
    }
    for (int step = begin / kStepKeys; step * kStepKeys < end; ++step) {
      multiply<kRows>(rows, right, step, acc);
    }
    for (int row = 0; row < kRows; ++row) {
      V::store(left[row]->o + dim, acc[row]);
    }
  }

  // ---- Folds ----

  static void fold(int dim, const TilePair& pair, Left* left) {
    if (left->seen.begin >= left->seen.end) {
      return;
    }
    if (!left->has_group) {
      left->has_group = true;
      *pair.m = left->m;
      *pair.l = left->l;
      for (int d = 0; d < dim; d += 8) {
        V::store(pair.o + d, V::load(left->o + d));
      }
      return;
    }
    const FoldFactors factors = fold_factors(*pair.m, left->m);
    const F8 a = V::set1(factors.a);
    const F8 b = V::set1(factors.b);
    *pair.m = factors.m;
    *pair.l = factors.fold(*pair.l, left->l);
    for (int d = 0; d < dim; d += 8) {
      const F8 before = V::load(pair.o + d);
      const F8 slice = V::load(left->o + d);
      F8 sum = V::fma(slice, b, V::mul(before, a));
      if constexpr (kMutation == EngineMutation::kContractsOneFold) {
        sum = V::fma(before, a, V::mul(slice, b));
      }
      V::store(pair.o + d, sum);
    }
  }

  // ---- Pairs ----

  template <int kValue>
  struct Count {
    static constexpr int kCount = kValue;
  };

  // Calls `function` for the pairs that see one of the slice's keys [first, first + count), two at
  // a time, so that one's loads of the columns serve the other.
  template <class Function>
  static void for_pairs(int num_pairs,
                        Storage* storage,
                        std::int32_t first,
                        std::int32_t count,
                        const Function& function) {
    Left* waiting = nullptr;
    for (int pair = 0; pair < num_pairs; ++pair) {
      Left* const left = &storage->left[pair];
      const KeyRange seen = left->seen;
      if (seen.begin >= seen.end || seen.begin >= first + count || seen.end <= first) {
        continue;
      }
      if (waiting == nullptr) {
        waiting = left;
        continue;
      }
      Left* const both[2] = {waiting, left};
      function(Count<2>{}, both);
      waiting = nullptr;
    }
    if (waiting != nullptr) {
      function(Count<1>{}, &waiting);
    }
  }
};

}  // namespace assay::kernels::attention
