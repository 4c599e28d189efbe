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
inline constexpr std::int64_t kSmBytes = 233'472;  // of shared memory in a multiprocessor of sm_90
inline constexpr std::int64_t kReservedBytes = 1'024;  // the system's own in each block

// of(the shape of that head dim and those tiles).
template <class Of>
auto of_shape(std::int32_t dim, std::int32_t tiles, const Of& of) {
  return dim == 256   ? of(WarpgroupShape<256, 1>())
         : tiles == 2 ? of(WarpgroupShape<128, 2>())
                      : of(WarpgroupShape<128, 1>());
}

inline std::int64_t warpgroup_bytes(std::int32_t dim, std::int32_t tiles, std::int32_t stages) {
  return of_shape(dim, tiles, [&](auto shape) { return shape.shared_bytes(stages); });
}

// As many as a multiprocessor's registers are dealt out for, if its memory holds them.
inline std::int32_t warpgroup_blocks_per_sm(std::int32_t dim,
                                            std::int32_t tiles,
                                            std::int32_t stages) {
  const std::int32_t blocks = of_shape(dim, tiles, [](auto shape) { return shape.kBlocksPerSm; });
  return blocks * (warpgroup_bytes(dim, tiles, stages) + kReservedBytes) <= kSmBytes ? blocks : 1;
}

// Tiles of a block, for a stream with that many pairs.
inline std::int32_t warpgroup_tiles(std::int32_t dim, std::int64_t pairs, std::int32_t choice) {
  if (dim == 256) {
    return 1;
  }
  return choice != 0 ? choice : pairs > kWarpgroupPairs ? 2 : 1;
}

inline std::int32_t warpgroup_stages(std::int32_t dim, std::int32_t tiles, std::int32_t choice) {
  if (choice != 0) {
    return choice;
  }
  const std::int32_t blocks = warpgroup_blocks_per_sm(dim, tiles, kLeastItemStages);
  std::int32_t stages = kMostItemStages;
  while (blocks * (warpgroup_bytes(dim, tiles, stages) + kReservedBytes) > kSmBytes) {
    --stages;
  }
  return stages;
}

// Auto: slices where groups would leave a quarter of their waves idle, at head dim 128: wider
// states cost a merge of slices more than it saves.
inline ItemSpill warpgroup_spill(std::int32_t dim,
                                 const WarpgroupChoice& choice,
                                 std::int32_t num_blocks,
                                 std::int64_t num_groups) {
  const auto waves = [&](std::int64_t items) { return (items + num_blocks - 1) / num_blocks; };
  const bool is_short =
      dim == 128 && 4 * waves(kSlices * num_groups) < 3 * kSlices * waves(num_groups);
  return choice.spill == ItemSpill::kAuto && is_short ? ItemSpill::kSlice : choice.spill;
}

// States that a merge loads for each run, where all items together have `num_groups` groups.
inline std::int32_t run_states(ItemSpill spill, std::int32_t num_blocks, std::int64_t num_groups) {
  const bool leaves_runs = spill == ItemSpill::kRun ||
                           (spill == ItemSpill::kAuto && num_groups / kRunGroups >= num_blocks);
  return spill == ItemSpill::kSlice ? kRunGroups * kSlices : leaves_runs ? 1 : kRunGroups;
}

inline Grid warpgroup_grid(std::int32_t dim,
                           std::int32_t tiles,
                           std::int32_t stages,
                           std::int32_t num_blocks) {
  return {.num_blocks = num_blocks,
          .num_threads = of_shape(dim, tiles, [](auto shape) { return shape.kThreads; }),
          .shared_bytes = static_cast<std::int32_t>(warpgroup_bytes(dim, tiles, stages))};
}

}  // namespace assay::kernels::attention
