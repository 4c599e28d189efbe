// From a slice's dots to its weights, for 16 pairs whose keys two warpgroups share
// (cuda_swapped.cuh): maxima and weights meet in shared memory.
#pragma once

#include "kernels/attention/cuda_swapped_shape.cuh"
#include "kernels/attention/cuda_swapped_state.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// For the threads that compute. They meet at a barrier between scale_scores() and take_maxima(),
// and between weigh() and sum_of_weights().
template <class Exp, int kDim>
class SwappedWeights {
  using Shape = SwappedShape<kDim>;
  using Thread = SwappedThread;
  using Exchange = typename Shape::Exchange;
  using Columns = SwappedColumns<kDim>;
  using State = SwappedState<kDim>;

  static constexpr int kEights = Shape::kEights;

 public:
  // Dots of keys that a pair does not see become kNoScore; the half's first key is `first_key`.
  ASSAY_DEVICE static void mask(float (&scores)[kEights][4],
                                const Exchange& exchange,
                                std::int32_t first_key) {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        const KeyRange range = exchange.ranges[Thread::pair_of(j, c)];
        ASSAY_UNROLL
        for (int r = 0; r < 2; ++r) {
          const std::int32_t key = first_key + Thread::row_of(r);
          if (key < range.begin || key >= range.end) {
            scores[j][2 * r + c] = kNoScore;
          }
        }
      }
    }
  }

  // From dots to scores, and the warp's largest of each pair for the others.
  ASSAY_DEVICE static void scale_scores(float (&scores)[kEights][4],
                                        float scale,
                                        Exchange& exchange) {
    float maxima[kEights][2];
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      ASSAY_UNROLL
      for (int c = 0; c < 2; ++c) {
        ASSAY_UNROLL
        for (int r = 0; r < 2; ++r) {
          scores[j][2 * r + c] = score_of(scores[j][2 * r + c], scale);
        }
        maxima[j][c] = larger_of(scores[j][c], scores[j][2 + c]);
      }
    }
    ASSAY_UNROLL
    for (int distance = 4; distance < kLanes; distance *= 2) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        ASSAY_UNROLL
        for (int c = 0; c < 2; ++c) {
          maxima[j][c] = larger_of(maxima[j][c], shuffle_xor(maxima[j][c], distance));
        }
      }
    }
    if (lane_id() < 4) {
      ASSAY_UNROLL
      for (int j = 0; j < kEights; ++j) {
        *reinterpret_cast<Float2*>(&exchange.maxima[warp_id()][Thread::pair_of(j, 0)]) = {
            maxima[j][0], maxima[j][1]};
      }
    }
  }

  // Each pair's largest of all warps.
  ASSAY_DEVICE static void take_maxima(State& own, const Exchange& exchange) {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; ++j) {
      own.columns.m[j][0] = own.columns.m[j][1] = kNoScore;
      ASSAY_UNROLL
      for (int warp = 0; warp < Shape::kWarps; ++warp) {
        const Float2 maxima =
            *reinterpret_cast<const Float2*>(&exchange.maxima[warp][Thread::pair_of(j, 0)]);
        own.columns.m[j][0] = larger_of(own.columns.m[j][0], maxima.values[0]);
        own.columns.m[j][1] = larger_of(own.columns.m[j][1], maxima.values[1]);
      }
    }
    own.sum = {};
    if (Thread::has_sum()) {
      float max = exchange.maxima[lane_id() % 8][thread_id() / 8];
      ASSAY_UNROLL
      for (int distance = 1; distance < 8; distance *= 2) {
        max = larger_of(max, shuffle_xor(max, distance));
      }
      own.sum.m = max;
    }
  }

  // From scores to weights: rounded as an operand, by pair and key, and unrounded for the sums.
  ASSAY_DEVICE static void weigh(float (&scores)[kEights][4],
                                 const Columns& columns,
                                 std::uint16_t* weights,
                                 Exchange& exchange) {
    ASSAY_UNROLL
    for (int j = 0; j < kEights; j += 2) {
      float each[8];
      ASSAY_UNROLL
      for (int i = 0; i < 8; ++i) {
        const float max = columns.m[j + i / 4][i % 2];
        // Of a pair that sees nothing here, every weight is 0 and no difference is a NaN.
        each[i] = add_bits(scores[j + i / 4][i % 4], max == kNoScore ? 0.0F : -max);
      }
      Exp::of_each(each);
      ASSAY_UNROLL
      for (int i = 0; i < 8; i += 2) {
        const int pair = Thread::pair_of(j + i / 4, 0);
        const int row = Thread::row_of(i % 4 / 2);
        const std::uint32_t rounded = pack_bf16(each[i], each[i + 1]);
        *weight_at(weights, pair, row) = static_cast<std::uint16_t>(rounded);
        *weight_at(weights, pair + 1, row) = static_cast<std::uint16_t>(rounded >> 16);
        *reinterpret_cast<Float2*>(&exchange.weights[64 * Thread::warpgroup() + row][pair]) = {
            each[i], each[i + 1]};
      }
    }
  }

  // Of the thread's pair, the same in its eight threads; where has_sum().
  ASSAY_DEVICE static float sum_of_weights(const Exchange& exchange) {
    // The tree of sum_of_lanes().
    const float* weight = &exchange.weights[lane_id() % 8][thread_id() / 8];
    float sum = 0;
    ASSAY_UNROLL
    for (int eight = 0; eight < kSliceKeys / 8; ++eight) {
      sum = add_bits(sum, weight[8 * eight * Shape::kRowFloats]);
    }
    ASSAY_UNROLL
    for (int distance = 1; distance < 8; distance *= 2) {
      sum = add_bits(sum, shuffle_xor(sum, distance));
    }
    return sum;
  }

 private:
  // Of a pair and a row of the warpgroup's half of the keys.
  ASSAY_DEVICE static std::uint16_t* weight_at(std::uint16_t* weights, int pair, int row) {
    return weights + Thread::warpgroup() * Shape::kPairPanelElements + pair * kPanelColumns +
           ((row / 8) ^ (pair % 8)) * 8 + row % 8;
  }
};

}  // namespace assay::kernels::attention
