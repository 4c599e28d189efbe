// From a call's shape and launch parameters to grids: host arithmetic only, so that it is the same
// where no device is.
#pragma once

#include "kernels/attention/cuda_grid.cuh"
#include "kernels/tree_attention/cuda_staged.cuh"
#include "kernels/tree_attention/cuda_wide.cuh"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::tree_attention {

inline constexpr std::int32_t kMostSlots = 16;
inline constexpr std::int32_t kMostTails = 2;  // groups of a row that are not fully committed

enum class Form : std::int32_t { kAuto, kFourWarp, kOneWarp };

// Launch parameters as written; 0 stands for auto.
struct StagedChoice {
  Form form = Form::kAuto;
  std::int32_t slots = 0;
  std::int32_t stages = 0;
  std::int32_t tile = attention::kStepKeys;
  bool shares = true;
  bool spills_runs = false;
  std::int32_t capacity = 0;  // keys that the grid is sized for; 0: the shape's
  std::int32_t sms = 1;       // of the device
  bool stores_result = true;
};

struct StagedLaunch {
  attention::Grid attend;
  attention::Grid merge;
  StagedGrid grid;
  MergePlan merge_plan;
};

inline std::int32_t capacity_groups(const Shape& shape, std::int32_t capacity) {
  return capacity == 0 ? shape.num_groups
                       : static_cast<std::int32_t>(attention::num_groups_of(capacity));
}

// The seed's rule where nothing is forced: one-warp blocks where four-warp blocks would leave an SM
// idle, and then three stages where one wave holds them all.
inline StagedLaunch plan_staged(const Shape& shape, const StagedChoice& choice) {
  const std::int32_t groups = capacity_groups(shape, choice.capacity);
  const std::int32_t committed =
      choice.capacity == 0 ? shape.most_committed / attention::kGroupKeys : groups;
  const std::int32_t slots = choice.slots == 0 ? kMostSlots : choice.slots;

  StagedLaunch launch;
  StagedGrid& grid = launch.grid;
  grid.shares = choice.shares;
  grid.num_slots = choice.shares ? std::min(slots, committed) : 0;
  grid.num_own_slots = std::min(slots, choice.shares ? std::min(groups, kMostTails) : groups);
  grid.num_shared = std::int64_t{shape.num_tiles} * shape.num_kv_heads * grid.num_slots;
  const std::int64_t num_four_warp =
      grid.num_shared + std::int64_t{shape.num_rows} * shape.num_kv_heads * grid.num_own_slots;

  attention::StagedPlan& block = grid.block;
  block.is_four_warp =
      choice.form == Form::kFourWarp || (choice.form == Form::kAuto && num_four_warp >= choice.sms);
  const bool fits_one_wave =
      !block.is_four_warp && num_four_warp * attention::kSlices <= choice.sms;
  block.num_stages = choice.stages != 0 ? choice.stages : fits_one_wave ? 3 : 2;
  block.tile = choice.tile;
  block.spills_runs = choice.spills_runs && block.is_four_warp;

  launch.attend.num_blocks = num_four_warp * (block.is_four_warp ? 1 : attention::kSlices);
  launch.attend.num_threads = attention::kLanes * (block.is_four_warp ? attention::kSlices : 1);
  launch.attend.shared_bytes = attention::staged_bytes(shape.dim, block);
  const std::int32_t most_groups = std::max(groups, shape.num_groups);
  const attention::MergeGrid merge =
      attention::merge_grid(shape.num_rows,
                            shape.num_heads,
                            shape.dim,
                            most_groups,
                            !block.is_four_warp  ? attention::kRunGroups * attention::kSlices
                            : choice.spills_runs ? 1
                                                 : attention::kRunGroups);
  launch.merge = merge.grid;
  launch.merge_plan = {.has_slices = !block.is_four_warp,
                       .spills_runs = choice.spills_runs,
                       .stores_result = choice.stores_result,
                       .is_shared = merge.is_shared};
  return launch;
}

struct WideChoice {
  std::int32_t slots = 0;
  std::int32_t stages = 0;
  std::int32_t tile = 32;
  std::int32_t tiles = 0;  // of 16 pairs, in a block
  bool spills_runs = false;
  std::int32_t capacity = 0;
  std::int32_t sms = 1;
  bool stores_result = true;
};

struct WideLaunch {
  attention::Grid attend;
  WideGrid grid;
  StagedLaunch tails;  // own blocks for what is not fully committed, and the merge
};

inline std::int32_t wide_bytes(std::int32_t dim,
                               const attention::StagedPlan& plan,
                               std::int32_t num_tiles) {
  return dim == 128 ? attention::WideMemory<128>::bytes(plan, num_tiles)
                    : attention::WideMemory<256>::bytes(plan, num_tiles);
}

// Blocks enough for several on each SM, so that the hardware evens out streams of different
// lengths; a stream's pairs spread evenly over the fewest blocks.
inline WideLaunch plan_wide(const Shape& shape, const WideChoice& choice) {
  constexpr std::int32_t kBlocksPerSm = 4;
  const std::int32_t parts = shape.dim / attention::kWideDims;
  const std::int32_t most_tiles = attention::kMostWideWarps / parts;
  const auto ceil_of = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };

  WideLaunch launch;
  launch.tails = plan_staged(shape,
                             {.form = Form::kFourWarp,
                              .stages = 2,
                              .spills_runs = choice.spills_runs,
                              .capacity = choice.capacity,
                              .stores_result = choice.stores_result});
  // Sharing is left to the wide kernel.
  launch.tails.attend.num_blocks -= launch.tails.grid.num_shared;
  launch.tails.grid.num_shared = 0;

  WideGrid& grid = launch.grid;
  const std::int64_t stream_tiles =
      ceil_of(shape.num_tiles, std::max<std::int32_t>(shape.num_streams, 1));
  const std::int64_t stream_blocks = ceil_of(std::max<std::int64_t>(stream_tiles, 1), most_tiles);
  const auto even = static_cast<std::int32_t>(ceil_of(stream_tiles, stream_blocks));
  grid.num_tiles = choice.tiles != 0 ? std::min(choice.tiles, most_tiles) : std::max(even, 1);
  grid.block = {.num_stages = choice.stages != 0 ? choice.stages : 3,
                .tile = choice.tile,
                .is_four_warp = false,
                .spills_runs = choice.spills_runs};

  const std::int32_t committed = choice.capacity == 0 ? shape.most_committed / attention::kGroupKeys
                                                      : capacity_groups(shape, choice.capacity);
  const std::int64_t units =
      choice.spills_runs ? attention::num_runs_of(committed) : std::int64_t{committed};
  const std::int64_t tiles =
      std::max<std::int64_t>(ceil_of(shape.num_tiles, grid.num_tiles) * shape.num_kv_heads, 1);
  const std::int64_t wanted = choice.slots != 0
                                  ? std::int64_t{choice.slots}
                                  : ceil_of(std::int64_t{kBlocksPerSm} * choice.sms, tiles);
  grid.num_slots = static_cast<std::int32_t>(std::min(wanted, units));
  launch.attend = {
      .num_blocks = std::int64_t{shape.num_tiles} * shape.num_kv_heads * grid.num_slots,
      .num_threads = grid.num_tiles * parts * attention::kLanes,
      .shared_bytes = wide_bytes(shape.dim, grid.block, grid.num_tiles)};
  return launch;
}

}  // namespace assay::kernels::tree_attention
