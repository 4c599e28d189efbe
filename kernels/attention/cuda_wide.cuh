// A block's work on all pairs of a stream and key head: its warps share one ring of tiles, each
// takes 16 pairs and 128 dims of the values, and folds the slices of a group one after the other in
// registers.
#pragma once

#include "kernels/attention/cuda_staged.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kMostWideWarps = 8;
inline constexpr int kWideDims = 128;  // of a warp

template <int kDim>
inline constexpr int kWideParts = kDim / kWideDims;

// Dynamic shared memory: queries, each warp's run, the ring.
template <int kDim>
struct WideMemory {
  static constexpr int kStateBytes = LaneBuffer<kWideDims / kColumnKeys>::kBytes;

  static ASSAY_HOST_DEVICE int run_offset(int num_tiles) {
    return num_tiles * kTilePairs * kRowBytes<kDim>;
  }

  static ASSAY_HOST_DEVICE int ring_offset(const StagedPlan& plan, int num_tiles) {
    return run_offset(num_tiles) +
           (plan.spills_runs ? num_tiles * kWideParts<kDim> * kStateBytes : 0);
  }

  static ASSAY_HOST_DEVICE int bytes(const StagedPlan& plan, int num_tiles) {
    return ring_offset(plan, num_tiles) + plan.num_stages * plan.tile * kRowBytes<kDim>;
  }
};

template <class Exp, Defect kDefect, int kDim, class Tile>
ASSAY_DEVICE void attend_wide(
    const Tile& tile, const StagedPlan& plan, int num_tiles, GroupWalk walk, float scale) {
  using Memory = WideMemory<kDim>;
  using State = SliceState<kWideDims / kColumnKeys>;
  constexpr int kParts = kWideParts<kDim>;
  if (walk.is_done()) {
    return;
  }
  std::byte* memory = shared_memory();
  const int first_pair = warp_id() / kParts * kTilePairs;
  const int first_dim = warp_id() % kParts * kWideDims;
  const std::byte* queries = memory + first_pair * kRowBytes<kDim>;
  std::byte* run_memory = memory + Memory::run_offset(num_tiles) + warp_id() * Memory::kStateBytes;
  const KeySpan keys = {tile.loaded, plan.tile, plan.skips};
  TileRing<kDim, Tile, true, kDefect> ring(
      tile,
      {.walk = walk, .keys = keys, .first_slice = 0, .slice_step = 1},
      memory + Memory::ring_offset(plan, num_tiles),
      plan.num_stages);

  copy_queries<kDim>(tile, 0, num_tiles * kTilePairs, memory, thread_id(), num_threads());
  commit_copies();
  ring.fill();
  const LaneRows rows = LaneRows::of(tile, first_pair);
  const bool has_pairs = first_pair < tile.num_pairs;
  wait_for_all_but(plan.num_stages - 1);
  sync_block();

  for (; !walk.is_done(); walk.advance()) {
    State group;
    group.clear();
    bool is_first = true;
    for (int i = 0; i < kSlices; ++i) {
      const int slice = walk.group * kSlices + i;
      const SliceSpan span = keys.of_slice(slice);
      if (span.is_empty()) {
        continue;
      }
      if (!has_pairs) {
        // The ring's barriers want every warp.
        for (int unit = 2 * (span.end_unit - span.first_unit); unit > 0; --unit) {
          ring.next_unit();
        }
        continue;
      }
      State state;
      attend_slice<Exp, kDefect, kDim>(
          ring, queries, scale, rows.ranges, slice, span, first_dim / kChunkElements, state);
      if (is_first) {
        group = state;
      } else {
        fold_after(group, state);
      }
      is_first = false;
    }
    if (has_pairs) {
      emit_group<kDim>(group, tile, rows, walk, plan.spills_runs, run_memory, first_dim);
    }
  }
}

}  // namespace assay::kernels::attention
