// How a call's slices become items of the warpgroup form (cuda_items.cuh): first whole runs, then
// the rest in aligned pieces of some slices, whole pieces before those that a range cuts off. Items
// are numbered in this order, by stream, piece, tile and key head, the last fastest. Any plan suits
// any lengths and gives the same bits: the host draws it up for the lengths that it knows.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_walk.cuh"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr std::int32_t kRunSlices = kRunGroups * kSlices;
inline constexpr int kItemLevels = 3;  // whole runs, whole pieces, cut pieces

struct SliceRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

struct ItemPlan {
  std::int32_t num_whole = 0;  // at most so many items are whole runs of level 0
  std::int32_t piece_slices = kRunSlices;  // of the rest: 1, or a power of two from kSlices on

  // States that leave by themselves as slices.
  ASSAY_HOST_DEVICE bool leaves_slices() const { return piece_slices == 1; }
};

// Slices that hold a key.
ASSAY_HOST_DEVICE inline SliceRange slices_of(KeyRange keys) {
  return {keys.begin / kSliceKeys, (keys.end + kSliceKeys - 1) / kSliceKeys};
}

// Aligned pieces that lie wholly in a range, from the first-th of all pieces on.
struct WholePieces {
  std::int32_t first = 0;
  std::int32_t count = 0;

  static ASSAY_HOST_DEVICE WholePieces of(SliceRange slices, std::int32_t piece_slices) {
    const std::int32_t first = (slices.begin + piece_slices - 1) / piece_slices;
    const std::int32_t end = slices.end / piece_slices;
    return {first, end > first ? end - first : 0};
  }
};

// The slices of one stream as items of one tile and key head.
struct StreamCut {
  SliceRange slices;        // of the stream
  WholePieces whole;        // runs of level 0
  SliceRange rests[2];      // before and behind them
  std::int32_t piece_slices = kRunSlices;

  // `units` tiles and key heads; `runs_before` whole runs of earlier streams' units.
  static ASSAY_HOST_DEVICE StreamCut of(SliceRange slices,
                                        const ItemPlan& plan,
                                        std::int32_t units,
                                        std::int32_t runs_before) {
    StreamCut cut;
    cut.slices = slices;
    cut.piece_slices = plan.piece_slices;
    cut.whole = WholePieces::of(slices, kRunSlices);
    const std::int32_t left = units == 0 ? 0 : (plan.num_whole - runs_before) / units;
    cut.whole.count = larger_place(0, smaller_place(cut.whole.count, left));
    const std::int32_t begin =
        larger_place(slices.begin, smaller_place(cut.whole.first * kRunSlices, slices.end));
    const std::int32_t end = larger_place(
        begin,
        smaller_place((cut.whole.first + cut.whole.count) * kRunSlices, slices.end));
    cut.rests[0] = {slices.begin, begin};
    cut.rests[1] = {end, slices.end};
    return cut;
  }

  ASSAY_HOST_DEVICE std::int32_t count(int level) const {
    if (level == 0) {
      return whole.count;
    }
    return count_of(rests[0], level) + count_of(rests[1], level);
  }

  ASSAY_HOST_DEVICE SliceRange item(int level, std::int32_t index) const {
    if (level == 0) {
      return {(whole.first + index) * kRunSlices, (whole.first + index + 1) * kRunSlices};
    }
    const std::int32_t before = count_of(rests[0], level);
    const bool is_behind = index >= before;
    const SliceRange rest = is_behind ? rests[1] : rests[0];
    const std::int32_t place = is_behind ? index - before : index;
    std::int32_t piece = WholePieces::of(rest, piece_slices).first + place;
    if (level == 2) {
      const bool is_first = place == 0 && rest.begin % piece_slices != 0;
      piece = (is_first ? rest.begin : rest.end) / piece_slices;
    }
    return {larger_place(rest.begin, piece * piece_slices),
            smaller_place(rest.end, (piece + 1) * piece_slices)};
  }

  // Whether what begins at `slice` leaves folded into the state of its run.
  ASSAY_HOST_DEVICE bool leaves_run(std::int32_t slice) const {
    return is_whole_run(slice / kRunSlices) || (piece_slices > kSlices && slice == run_begin(slice));
  }

  // Groups of `run` below it left folded together; at most the run's first group where none did.
  ASSAY_HOST_DEVICE std::int32_t end_folded_group(std::int32_t run) const {
    if (is_whole_run(run)) {
      return (run + 1) * kRunGroups;
    }
    const std::int32_t begin = run_begin(run * kRunSlices);
    return piece_slices > kSlices ? (begin / piece_slices + 1) * (piece_slices / kSlices)
                                  : run * kRunGroups;
  }

 private:
  // Whole pieces, or pieces that an end of the range cuts off.
  ASSAY_HOST_DEVICE std::int32_t count_of(SliceRange range, int level) const {
    if (level == 1) {
      return WholePieces::of(range, piece_slices).count;
    }
    if (range.begin >= range.end) {
      return 0;
    }
    const bool has_first = range.begin % piece_slices != 0;
    const bool has_last = range.end % piece_slices != 0;
    const bool is_same = range.begin / piece_slices == range.end / piece_slices;
    return has_first && has_last && is_same ? 1 : (has_first ? 1 : 0) + (has_last ? 1 : 0);
  }

  ASSAY_HOST_DEVICE bool is_whole_run(std::int32_t run) const {
    return run >= whole.first && run < whole.first + whole.count;
  }

  // The first slice of the stream in that slice's run.
  ASSAY_HOST_DEVICE std::int32_t run_begin(std::int32_t slice) const {
    return larger_place(slices.begin, slice / kRunSlices * kRunSlices);
  }
};

}  // namespace assay::kernels::attention
