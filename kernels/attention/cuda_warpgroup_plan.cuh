// How the warpgroup form is launched, whatever it attends: host arithmetic only.
#pragma once

#include "kernels/attention/cuda_grid.cuh"
#include "kernels/attention/cuda_items.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// Launch parameters as written; 0 stands for auto.
struct WarpgroupChoice {
  std::int32_t tiles = 0;   // of 64 pairs in a block, at head dim 128
  std::int32_t stages = 0;  // of 32 KiB
  ItemSpill spill = ItemSpill::kAuto;
  std::int32_t capacity = 0;  // keys that the grid is sized for; 0: the shape's
  std::int32_t sms = 1;
  bool stores_result = true;
};

inline constexpr std::int32_t kLeastItemStages = 2;
inline constexpr std::int32_t kMostItemStages = 5;
inline constexpr std::int32_t kMostWarpgroupBytes =
    232'448;  // of shared memory in a block of sm_90

inline std::int64_t warpgroup_bytes(std::int32_t dim, std::int32_t tiles, std::int32_t stages) {
  return dim == 256   ? WarpgroupShape<256, 1>::shared_bytes(stages)
         : tiles == 2 ? WarpgroupShape<128, 2>::shared_bytes(stages)
                      : WarpgroupShape<128, 1>::shared_bytes(stages);
}

// Tiles of a block, for a stream with that many pairs.
inline std::int32_t warpgroup_tiles(std::int32_t dim, std::int64_t pairs, std::int32_t choice) {
  if (dim == 256) {
    return 1;
  }
  return choice != 0 ? choice : pairs > kWarpgroupPairs ? 2 : 1;
}

inline std::int32_t warpgroup_stages(std::int32_t dim, std::int32_t tiles, std::int32_t choice) {
  std::int32_t stages = choice != 0 ? choice : kMostItemStages;
  while (choice == 0 && warpgroup_bytes(dim, tiles, stages) > kMostWarpgroupBytes) {
    --stages;
  }
  return stages;
}

// Auto: slices where groups would leave a quarter of their waves idle.
inline ItemSpill warpgroup_spill(const WarpgroupChoice& choice, std::int64_t num_groups) {
  const auto waves = [&](std::int64_t items) { return (items + choice.sms - 1) / choice.sms; };
  const bool is_short = 4 * waves(kSlices * num_groups) < 3 * kSlices * waves(num_groups);
  return choice.spill == ItemSpill::kAuto && is_short ? ItemSpill::kSlice : choice.spill;
}

inline Grid warpgroup_grid(std::int32_t dim,
                           std::int32_t tiles,
                           std::int32_t stages,
                           std::int32_t num_blocks) {
  return {.num_blocks = num_blocks,
          .num_threads = (dim == 256 ? 2 : tiles) * kWarpgroupThreads,
          .shared_bytes = static_cast<std::int32_t>(warpgroup_bytes(dim, tiles, stages))};
}

}  // namespace assay::kernels::attention
