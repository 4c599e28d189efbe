// A block's work on one tile of 16 pairs: it walks groups, warp w computes slice w of each from a
// ring of its own, and the four are folded in order through shared memory on their way to the last
// warp. In the one-warp form a block is one slice's warp and stores the slice's state.
#pragma once

#include "kernels/attention/cuda_ring.cuh"
#include "kernels/attention/cuda_state.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

// How a block works: speed, never bits.
struct StagedPlan {
  std::int32_t num_stages = 2;
  std::int32_t tile = kStepKeys;  // keys
  bool is_four_warp = true;
  bool spills_runs = false;  // groups below Tile::num_run_groups leave as runs
  bool skips = true;         // tiles that no row sees
};

// Dynamic shared memory: queries, the state handed from warp to warp, the run's, the rings.
template <int kDim>
struct StagedMemory {
  static constexpr int kQueryBytes = kTilePairs * kRowBytes<kDim>;
  static constexpr int kStateBytes = LaneBuffer<kDim / kColumnKeys>::kBytes;

  static ASSAY_HOST_DEVICE int run_offset(const StagedPlan& plan) {
    return kQueryBytes + (plan.is_four_warp ? kStateBytes : 0);
  }

  static ASSAY_HOST_DEVICE int ring_offset(const StagedPlan& plan) {
    return run_offset(plan) + (plan.is_four_warp && plan.spills_runs ? kStateBytes : 0);
  }

  static ASSAY_HOST_DEVICE int ring_bytes(const StagedPlan& plan) {
    return plan.num_stages * plan.tile * kRowBytes<kDim>;
  }

  static ASSAY_HOST_DEVICE int bytes(const StagedPlan& plan) {
    return ring_offset(plan) + (plan.is_four_warp ? kSlices : 1) * ring_bytes(plan);
  }
};

// Barriers of the hand-over, beside the block's own.
inline constexpr int kFreedBarrier = kSlices;

// The tile's queries as asynchronous copies, zeros where there is no pair: thread `thread` of the
// `threads` that copy together.
template <int kDim, class Tile>
ASSAY_DEVICE void copy_queries(
    const Tile& tile, int first_pair, int num_pairs, std::byte* queries, int thread, int threads) {
  constexpr int kRowChunks = kDim / kChunkElements;
  for (int i = thread; i < num_pairs * kRowChunks; i += threads) {
    const int pair = i / kRowChunks;
    const int chunk = i % kRowChunks;
    const bool is_there = first_pair + pair < tile.num_pairs;
    const std::uint16_t* query = tile.query(is_there ? first_pair + pair : 0);
    copy_async(chunk_of<kDim>(queries, pair, chunk), query + chunk * kChunkElements, is_there);
  }
}

// What a lane's two rows see, and where their states lie within a group's; nothing and below 0
// where there is no pair.
struct LaneRows {
  RowRanges ranges;
  std::int64_t places[2];

  template <class Tile>
  static ASSAY_DEVICE LaneRows of(const Tile& tile, int first_pair) {
    LaneRows rows;
    ASSAY_UNROLL
    for (int row = 0; row < 2; ++row) {
      const int pair = first_pair + lane_id() / 4 + 8 * row;
      const bool is_there = pair < tile.num_pairs;
      rows.ranges.rows[row] = is_there ? tile.range(pair) : KeyRange{};
      rows.places[row] = is_there ? tile.state_place(pair) : -1;
    }
    return rows;
  }
};

// A state of a group leaves: as the group's partial, or into its run.
template <int kDim, int kColumnsOfO, class Tile>
ASSAY_DEVICE void emit_group(SliceState<kColumnsOfO>& state,
                             const Tile& tile,
                             const LaneRows& rows,
                             const GroupWalk& walk,
                             bool spills_runs,
                             std::byte* run_memory,
                             int first_dim) {
  if (!spills_runs || walk.group >= tile.num_run_groups) {
    store_state(
        state, tile.partials(), walk.group * tile.num_states(), rows.places, first_dim, kDim);
    return;
  }
  const int run = walk.group / kRunGroups;
  const int first_group = run * kRunGroups > walk.begin ? run * kRunGroups : walk.begin;
  LaneBuffer<kColumnsOfO> buffer(run_memory);
  if (walk.group != first_group) {
    buffer.template fold_before<Defect::kNone>(state);
  }
  if (walk.ends_unit() || walk.group + 1 == tile.num_run_groups) {
    store_state(state, tile.runs(), run * tile.num_states(), rows.places, first_dim, kDim);
  } else {
    buffer.write(state);
  }
}

// The slices of a group meet in order; true in the warp that has their fold in `state`.
template <Defect kDefect, int kColumnsOfO>
ASSAY_DEVICE bool fold_slices(SliceState<kColumnsOfO>& state,
                              std::byte* memory,
                              bool is_first,
                              bool is_last) {
  LaneBuffer<kColumnsOfO> buffer(memory);
  int turn = warp_id();
  if constexpr (kDefect == Defect::kSlicesInReverse) {
    turn = kSlices - 1 - turn;
  }
  if (turn > 0) {
    barrier_sync(turn, 2 * kLanes);
    if constexpr (kDefect == Defect::kDropsFourthSlice) {
      if (turn + 1 == kSlices) {
        state.clear();
      }
    }
    buffer.template fold_before<kDefect>(state);
  } else if (!is_first) {
    barrier_sync(kFreedBarrier, 2 * kLanes);
  }
  if (turn + 1 < kSlices) {
    buffer.write(state);
    barrier_sync(turn + 1, 2 * kLanes);
    return false;
  }
  if (!is_last) {
    barrier_sync(kFreedBarrier, 2 * kLanes);
  }
  return true;
}

// `own_slice` is the slice of a one-warp block. Tile: see tree_attention/cuda_tiles.cuh.
template <class Exp, Defect kDefect, int kDim, class Tile>
ASSAY_DEVICE void attend_staged(
    const Tile& tile, const StagedPlan& plan, GroupWalk walk, float scale, int own_slice) {
  using Memory = StagedMemory<kDim>;
  if (walk.is_done()) {
    return;
  }
  std::byte* queries = shared_memory();
  std::byte* ring_memory = queries + Memory::ring_offset(plan);
  const int slice = plan.is_four_warp ? warp_id() : own_slice;
  const KeySpan keys = {tile.loaded, plan.tile, plan.skips};
  TileRing<kDim, Tile, false, kDefect> ring(
      tile,
      {.walk = walk, .keys = keys, .first_slice = slice, .slice_step = kSlices},
      ring_memory + (plan.is_four_warp ? warp_id() * Memory::ring_bytes(plan) : 0),
      plan.num_stages);

  copy_queries<kDim>(tile, 0, kTilePairs, queries, thread_id(), num_threads());
  commit_copies();
  ring.fill();
  const LaneRows rows = LaneRows::of(tile, 0);
  wait_for_all_but(plan.num_stages - 1);
  sync_block();

  for (bool is_first = true; !walk.is_done(); is_first = false) {
    const int place = walk.group * kSlices + slice;
    const SliceSpan span = keys.of_slice(place);
    SliceState<kDim / kColumnKeys> state;
    if (span.is_empty()) {
      state.clear();
    } else {
      attend_slice<Exp, kDefect, kDim>(ring, queries, scale, rows.ranges, place, span, 0, state);
    }

    GroupWalk next = walk;
    next.advance();
    if (!plan.is_four_warp) {
      store_state(state, tile.slices(), place * tile.num_states(), rows.places, 0, kDim);
    } else if (fold_slices<kDefect>(
                   state, queries + Memory::kQueryBytes, is_first, next.is_done())) {
      emit_group<kDim>(
          state, tile, rows, walk, plan.spills_runs, queries + Memory::run_offset(plan), 0);
    }
    walk = next;
  }
}

}  // namespace assay::kernels::attention
