// How the warpgroup form is launched, whatever it attends: host arithmetic only.
#pragma once

#include "kernels/attention/cuda_grid.cuh"
#include "kernels/attention/cuda_items.cuh"
#include "kernels/attention/cuda_swapped.cuh"
#include "kernels/attention/tuned_items.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::kernels::attention {

// Launch parameters as written; 0 stands for auto.
struct WarpgroupChoice {
  std::int32_t pairs = 0;         // of a block
  std::int32_t stages = 0;        // of 32 KiB
  std::int32_t tuned_stages = 0;  // where `stages` is 0, if a block has room for them
  ItemSpill spill = ItemSpill::kAuto;
  std::int32_t capacity = 0;  // keys that the grid is sized for; 0: the shape's
  std::int32_t sms = 1;
  bool stores_result = true;
};

// Stages go with the pairs that they were found with: both are the table's, or neither.
inline void take_tuned(const TunedItems& tuned, WarpgroupChoice* choice) {
  if (choice->pairs == 0) {
    choice->pairs = tuned.pairs;
    choice->tuned_stages = tuned.stages;
  }
}

inline constexpr std::int32_t kLeastItemStages = 2;
inline constexpr std::int64_t kSmBytes = 233'472;  // of shared memory in a multiprocessor of sm_90
inline constexpr std::int64_t kReservedBytes = 1'024;  // the system's own in each block

// of(the shape of that head dim and that many pairs in a block).
template <class Of>
auto of_shape(std::int32_t dim, std::int32_t pairs, const Of& of) {
  if (dim == 256) {
    return pairs == 16 ? of(SwappedShape<256>()) : of(WarpgroupShape<256, 1>());
  }
  return pairs == 16    ? of(SwappedShape<128>())
         : pairs == 128 ? of(WarpgroupShape<128, 2>())
                        : of(WarpgroupShape<128, 1>());
}

inline std::int64_t warpgroup_bytes(std::int32_t dim, std::int32_t pairs, std::int32_t stages) {
  return of_shape(dim, pairs, [&](auto shape) { return shape.shared_bytes(stages); });
}

// As many as a multiprocessor's registers are dealt out for, if its memory holds them.
inline std::int32_t warpgroup_blocks_per_sm(std::int32_t dim,
                                            std::int32_t pairs,
                                            std::int32_t stages) {
  const std::int32_t blocks = of_shape(dim, pairs, [](auto shape) { return shape.kBlocksPerSm; });
  return blocks * (warpgroup_bytes(dim, pairs, stages) + kReservedBytes) <= kSmBytes ? blocks : 1;
}

inline std::int32_t warpgroup_stages(std::int32_t dim,
                                     std::int32_t pairs,
                                     const WarpgroupChoice& choice) {
  if (choice.stages != 0) {
    return choice.stages;
  }
  if (choice.tuned_stages != 0 &&
      warpgroup_bytes(dim, pairs, choice.tuned_stages) + kReservedBytes <= kSmBytes) {
    return choice.tuned_stages;
  }
  const std::int32_t blocks = warpgroup_blocks_per_sm(dim, pairs, kLeastItemStages);
  std::int32_t stages = kMostItemStages;
  while (blocks * (warpgroup_bytes(dim, pairs, stages) + kReservedBytes) > kSmBytes) {
    --stages;
  }
  return stages;
}

// How query heads share key heads.
struct HeadGroups {
  std::int32_t num_kv_heads = 1;
  std::int32_t group = 1;  // query heads of a key head
};

// A call's streams as what is cut: the slices of each and how many tiles and key heads walk them.
struct CutStream {
  SliceRange slices;
  std::int64_t units = 0;
};

// `capacity` keys instead of each stream's own, unless 0.
inline std::vector<CutStream> cut_streams(std::span<const StreamLoad> streams,
                                          const HeadGroups& heads,
                                          std::int32_t tile_pairs,
                                          std::int32_t capacity) {
  std::vector<CutStream> cuts;
  for (const StreamLoad& stream : streams) {
    const std::int64_t pairs = std::int64_t{stream.num_rows} * heads.group;
    const KeyRange keys = {stream.keys.begin, capacity == 0 ? stream.keys.end : capacity};
    cuts.push_back({slices_of(keys), (pairs + tile_pairs - 1) / tile_pairs * heads.num_kv_heads});
  }
  return cuts;
}

inline std::int64_t num_slices_of(std::span<const CutStream> streams) {
  std::int64_t slices = 0;
  for (const CutStream& stream : streams) {
    slices += stream.units * (stream.slices.end - stream.slices.begin);
  }
  return slices;
}

// Pairs of a block, for streams of `pairs` on average: they share one if 16, 64 or, at head dim
// 128, 128 hold them all. Fewer, where each group of the smaller tiles has a multiprocessor.
inline std::int32_t warpgroup_pairs(std::int32_t dim,
                                    std::int64_t pairs,
                                    std::span<const StreamLoad> streams,
                                    const HeadGroups& heads,
                                    const WarpgroupChoice& choice) {
  const std::int32_t most = dim == 256 ? 64 : 128;
  if (choice.pairs != 0) {
    return std::min(choice.pairs, most);
  }
  for (const std::int32_t tile : {16, 64}) {
    std::int64_t groups = 0;
    for (const auto& [slices, units] : cut_streams(streams, heads, tile, choice.capacity)) {
      const std::int32_t end = (slices.end + kSlices - 1) / kSlices;
      groups += units * std::max(0, end - slices.begin / kSlices);
    }
    if (pairs <= tile || groups <= choice.sms) {
      return tile;
    }
  }
  return most;
}

// Slices that the busiest block walks when all streams are cut in such pieces behind `num_whole`
// runs. A piece that is cut off to less than half of it fills gaps.
inline std::int64_t slices_of_busiest(std::span<const CutStream> streams,
                                      std::int64_t num_whole,
                                      std::int32_t piece_slices,
                                      std::int32_t num_blocks) {
  std::int64_t pieces = -num_whole * (kRunSlices / piece_slices);
  std::int64_t cut_pieces = 0;
  std::int32_t longest = 0;
  std::int64_t rest = 0;
  std::int64_t largest = 0;  // of the rest
  for (const auto& [slices, units] : streams) {
    for (std::int32_t piece = slices.begin / piece_slices; piece * piece_slices < slices.end;
         ++piece) {
      const std::int32_t size = std::min(slices.end, (piece + 1) * piece_slices) -
                                std::max(slices.begin, piece * piece_slices);
      longest = std::max(longest, units > 0 ? size : 0);
      if (2 * size > piece_slices) {
        pieces += units;
      } else if (units > 0) {
        cut_pieces += units;
        rest += size * units;
        largest = std::max<std::int64_t>(largest, size);
      }
    }
  }
  if (pieces + cut_pieces <= num_blocks) {
    return longest;
  }
  return (pieces + num_blocks - 1) / num_blocks * piece_slices +
         std::max(largest, (rest + num_blocks - 1) / num_blocks);
}

// How much of a stream's tiles of 64 pairs is there.
inline double share_of_pairs(std::int64_t pairs) {
  const std::int64_t tiles = (pairs + kWarpgroupPairs - 1) / kWarpgroupPairs;
  return tiles == 0 ? 0 : static_cast<double>(pairs) / static_cast<double>(tiles * kWarpgroupPairs);
}

// Whole waves of runs, and the rest in the pieces that end soonest. A group that leaves by itself
// costs up to two slices more, by how much of its tile is there: `pairs_share` of 1.
inline ItemPlan plan_items(std::span<const CutStream> streams,
                           std::int32_t num_blocks,
                           ItemSpill spill,
                           double pairs_share) {
  if (spill == ItemSpill::kSlice) {
    return {.num_whole = 0, .piece_slices = 1};
  }
  if (spill != ItemSpill::kAuto) {
    return {.num_whole = 0, .piece_slices = spill == ItemSpill::kRun ? kRunSlices : kSlices};
  }
  std::int64_t runs = 0;
  for (const auto& [slices, units] : streams) {
    runs += WholePieces::of(slices, kRunSize).count * units;
  }
  const std::int64_t whole = runs / num_blocks * num_blocks;
  ItemPlan best = {.num_whole = static_cast<std::int32_t>(whole)};
  double least = std::numeric_limits<double>::infinity();
  for (std::int32_t piece = kRunSlices; piece >= kSlices; piece /= 2) {
    const double alone = 1.0 - static_cast<double>(piece) / kRunSlices;
    const double cost = static_cast<double>(slices_of_busiest(streams, whole, piece, num_blocks)) *
                        (1 + alone * pairs_share / 2);
    if (cost < least) {
      least = cost;
      best.piece_slices = piece;
    }
  }
  return best;
}

// Auto: slices where they leave a quarter of the blocks without work, at head dim 128: wider states
// cost a merge of slices more than it saves.
inline ItemSpill warpgroup_spill(std::int32_t dim,
                                 ItemSpill choice,
                                 std::int32_t num_blocks,
                                 std::int64_t num_slices) {
  const bool is_short = dim == 128 && 4 * num_slices <= 3 * std::int64_t{num_blocks};
  return choice == ItemSpill::kAuto && is_short ? ItemSpill::kSlice : choice;
}

// States that a merge loads for each run.
inline std::int32_t run_states(const ItemPlan& plan, std::int64_t num_slices) {
  const std::int32_t piece = plan.piece_slices;
  const std::int32_t of_rest =
      piece > kSlices ? (kRunSlices - piece) / kSlices + 1 : kRunSlices / piece;
  const bool is_mostly_whole = 2 * std::int64_t{plan.num_whole} * kRunSlices >= num_slices;
  return is_mostly_whole && num_slices > 0 ? 1 : of_rest;
}

inline Grid warpgroup_grid(std::int32_t dim,
                           std::int32_t pairs,
                           std::int32_t stages,
                           std::int32_t num_blocks) {
  return {.num_blocks = num_blocks,
          .num_threads = of_shape(dim, pairs, [](auto shape) { return shape.kThreads; }),
          .shared_bytes = static_cast<std::int32_t>(warpgroup_bytes(dim, pairs, stages))};
}

}  // namespace assay::kernels::attention
