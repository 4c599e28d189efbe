// How a call's slices become items of the warpgroup form (cuda_items.cuh): first whole runs, then
// the rest in aligned pieces of some slices, whole pieces before those that a range cuts off. Items
// are numbered in this order, by stream, piece, tile and key head, the last fastest. Any plan suits
// any lengths and gives the same bits: the host draws it up for the lengths that it knows.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_walk.cuh"

#include <bit>
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
  std::int32_t piece_slices =
      kRunSlices;  // of the rest: 1, or a power of two from kSlices to a run

  // States that leave by themselves as slices.
  ASSAY_HOST_DEVICE bool leaves_slices() const { return piece_slices == 1; }
};

// Slices that hold a key.
ASSAY_HOST_DEVICE inline SliceRange slices_of(KeyRange keys) {
  return {keys.begin / kSliceKeys, (keys.end + kSliceKeys - 1) / kSliceKeys};
}

// Pieces of a power of two of slices.
struct PieceSize {
  std::int32_t shift = 5;

  static ASSAY_HOST_DEVICE PieceSize of(std::int32_t slices) {
#ifdef __CUDA_ARCH__
    return {__ffs(slices) - 1};
#else
    return {std::countr_zero(static_cast<std::uint32_t>(slices))};
#endif
  }

  ASSAY_HOST_DEVICE std::int32_t slices() const {
    return 1 << shift;
  }

  ASSAY_HOST_DEVICE std::int32_t piece_of(std::int32_t slice) const {
    return slice >> shift;
  }

  ASSAY_HOST_DEVICE std::int32_t first_of(std::int32_t piece) const {
    return piece << shift;
  }

  // `slice` is not the first of a piece.
  ASSAY_HOST_DEVICE bool cuts(std::int32_t slice) const {
    return (slice & (slices() - 1)) != 0;
  }
};

// Aligned pieces that lie wholly in a range, from the first-th of all pieces on.
struct WholePieces {
  std::int32_t first = 0;
  std::int32_t count = 0;

  static ASSAY_HOST_DEVICE WholePieces of(SliceRange slices, PieceSize size) {
    const std::int32_t first = size.piece_of(slices.begin + size.slices() - 1);
    const std::int32_t end = size.piece_of(slices.end);
    return {first, end > first ? end - first : 0};
  }
};

inline constexpr PieceSize kRunSize = {};
static_assert(kRunSlices == 1 << PieceSize().shift);

// The slices of one stream as items of one tile and key head.
struct StreamCut {
  SliceRange slices;    // of the stream
  WholePieces whole;    // runs of level 0
  SliceRange rests[2];  // before and behind them
  PieceSize size;

  // `units` tiles and key heads; `runs_before` whole runs of earlier streams' units.
  static ASSAY_HOST_DEVICE StreamCut of(SliceRange slices,
                                        const ItemPlan& plan,
                                        std::int32_t units,
                                        std::int32_t runs_before) {
    StreamCut cut;
    cut.slices = slices;
    cut.size = PieceSize::of(plan.piece_slices);
    cut.whole = WholePieces::of(slices, kRunSize);
    const std::int32_t left =
        units == 0 || plan.num_whole == 0 ? 0 : (plan.num_whole - runs_before) / units;
    cut.whole.count = larger_place(0, smaller_place(cut.whole.count, left));
    const std::int32_t begin =
        larger_place(slices.begin, smaller_place(cut.whole.first * kRunSlices, slices.end));
    const std::int32_t end = larger_place(
        begin, smaller_place((cut.whole.first + cut.whole.count) * kRunSlices, slices.end));
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
    std::int32_t piece = WholePieces::of(rest, size).first + place;
    if (level == 2) {
      piece = size.piece_of(place == 0 && size.cuts(rest.begin) ? rest.begin : rest.end);
    }
    return {larger_place(rest.begin, size.first_of(piece)),
            smaller_place(rest.end, size.first_of(piece + 1))};
  }

  // Whether what begins at `slice` leaves folded into the state of its run.
  ASSAY_HOST_DEVICE bool leaves_run(std::int32_t slice) const {
    return is_whole_run(slice / kRunSlices) ||
           (size.slices() > kSlices && slice == run_begin(slice));
  }

  // Groups of `run` below it left folded together; at most the run's first group where none did.
  ASSAY_HOST_DEVICE std::int32_t end_folded_group(std::int32_t run) const {
    if (is_whole_run(run)) {
      return (run + 1) * kRunGroups;
    }
    const std::int32_t begin = run_begin(run * kRunSlices);
    return size.slices() > kSlices ? size.first_of(size.piece_of(begin) + 1) / kSlices
                                   : run * kRunGroups;
  }

 private:
  // Whole pieces, or pieces that an end of the range cuts off.
  ASSAY_HOST_DEVICE std::int32_t count_of(SliceRange range, int level) const {
    if (level == 1) {
      return WholePieces::of(range, size).count;
    }
    if (range.begin >= range.end) {
      return 0;
    }
    const bool has_first = size.cuts(range.begin);
    const bool has_last = size.cuts(range.end);
    const bool is_same = size.piece_of(range.begin) == size.piece_of(range.end);
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
