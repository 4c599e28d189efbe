// How a merge is dealt out: which part of which row and head a lane has, in a block whose warps
// share 128 dims or in a warp alone, and the shared memory that this takes.
#pragma once

#include "kernels/attention/cuda_primitives.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_walk.cuh"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kSharedMergeDims = 128;  // of a block: four a lane
inline constexpr int kLoneMergeDims = 256;    // of a warp: eight a lane, one or two heads of a row
inline constexpr int kMostMergeWarps = 8;

// What a lane works on: a head of a row from dim `at` on.
struct MergeTask {
  std::int32_t row;
  std::int32_t head;
  int at;
  bool is_shared;  // by the block's warps

  template <int kDim>
  static ASSAY_DEVICE MergeTask of(bool is_shared, std::int32_t num_heads) {
    const auto block = static_cast<std::uint32_t>(block_id());
    if (is_shared) {
      constexpr int kParts = kDim / kSharedMergeDims;
      const std::uint32_t number = block / kParts;
      const auto heads = static_cast<std::uint32_t>(num_heads);
      return {static_cast<std::int32_t>(number / heads),
              static_cast<std::int32_t>(number % heads),
              static_cast<int>(block % kParts) * kSharedMergeDims + lane_id() * 4,
              true};
    }
    constexpr int kHeads = kLoneMergeDims / kDim;
    constexpr int kHeadLanes = kLanes / kHeads;
    const auto number = block * kMostMergeWarps + static_cast<std::uint32_t>(warp_id());
    const auto row_warps = static_cast<std::uint32_t>(num_heads + kHeads - 1) / kHeads;
    const auto head =
        static_cast<std::int32_t>(number % row_warps) * kHeads + lane_id() / kHeadLanes;
    // A head past the last repeats it: the warp stays whole.
    return {static_cast<std::int32_t>(number / row_warps),
            smaller_place(head, num_heads - 1),
            lane_id() % kHeadLanes * 8,
            false};
  }
};

inline constexpr int kMostMergeRuns = kLanes;  // that are folded at a time

// Dynamic shared memory: states of runs.
struct MergeMemory {
  static constexpr int kRunElements = kLanes + 1;  // o of each lane, then m and l

  static ASSAY_HOST_DEVICE int bytes(int num_runs) {
    return smaller_place(num_runs, kMostMergeRuns) * kRunElements *
           static_cast<int>(sizeof(Float4));
  }
};

}  // namespace assay::kernels::attention
