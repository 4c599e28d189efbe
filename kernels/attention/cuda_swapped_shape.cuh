// The block of the warpgroup form with swapped operands (cuda_swapped.cuh): its sizes, its shared
// memory, and where a thread is in it.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"

#include <cstdint>

namespace assay::kernels::attention {

template <int kDimOf>
struct SwappedShape {
  static_assert(kDimOf == 128 || kDimOf == 256, "two warpgroups hold 64 or 128 columns each");

  static constexpr int kDim = kDimOf;
  static constexpr int kPairs = kTilePairs;
  static constexpr int kEights = kPairs / 8;  // of pairs
  static constexpr int kRows = kDim / 128;    // tiles of 64 columns of the values
  static constexpr int kWarpgroups = 2;
  static constexpr int kConsumers = kWarpgroups * kWarpgroupThreads;
  static constexpr int kThreads = kConsumers + kWarpgroupThreads;
  static constexpr int kBlocksPerSm = 1;
  static constexpr int kCopyRegisters = 40;
  static constexpr int kComputeRegisters = 232;
  static constexpr int kPanels = kDim / kPanelColumns;
  static constexpr int kHalfStages = kPanels / 2;
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kPairPanelElements = kPairs * kPanelColumns;
  static constexpr int kQElements = kPanels * kPairPanelElements;
  static constexpr int kWeightElements = 2 * kPairPanelElements;
  static constexpr int kWarps = kConsumers / kLanes;
  static constexpr int kRowFloats = kPairs + 4;  // of unrounded weights: eight rows in all banks

  // Behind the ring, the queries and the weights.
  struct Exchange {
    float maxima[kWarps][kPairs];
    float weights[kSliceKeys][kRowFloats];
    KeyRange ranges[kPairs];
    std::int32_t places[kPairs];  // among a number's states, -1 where there is no pair
  };

  static constexpr std::int64_t shared_bytes(int num_stages) {
    return 2 * (std::int64_t{num_stages} * kStageElements + std::int64_t{kQElements} +
                std::int64_t{kWeightElements}) +
           static_cast<std::int64_t>(sizeof(ItemControl) + sizeof(Exchange));
  }
};

// Where a thread that computes is among the pairs and the rows of a step.
struct SwappedThread {
  ASSAY_DEVICE static int warpgroup() { return thread_id() / kWarpgroupThreads; }

  ASSAY_DEVICE static int warp() { return thread_id() % kWarpgroupThreads / kLanes; }

  ASSAY_DEVICE static int pair_of(int j, int c) { return 8 * j + lane_id() % 4 * 2 + c; }

  // Of the warpgroup's 64 rows of a step, the thread's r-th.
  ASSAY_DEVICE static int row_of(int r) { return warp() * 16 + 8 * r + lane_id() / 4; }

  ASSAY_DEVICE static bool has_sum() { return thread_id() < 8 * kTilePairs; }

  ASSAY_DEVICE static void sync_halves() { barrier_sync(kHalvesBarrier, 2 * kWarpgroupThreads); }
};

}  // namespace assay::kernels::attention
