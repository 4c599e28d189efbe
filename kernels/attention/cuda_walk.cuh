// Which groups, slices and tiles a block visits, in order: shared by what copies tiles ahead and by
// what attends them, so that both see the same sequence.
#pragma once

#include "kernels/attention/cuda_fragments.cuh"

#include <cstdint>

namespace assay::kernels::attention {

ASSAY_HOST_DEVICE inline std::int32_t larger_place(std::int32_t a, std::int32_t b) {
  return a > b ? a : b;
}

ASSAY_HOST_DEVICE inline std::int32_t smaller_place(std::int32_t a, std::int32_t b) {
  return a < b ? a : b;
}

// Over the lanes of a warp up to this one.
ASSAY_DEVICE std::int32_t sum_up_to_lane(std::int32_t value) {
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const std::int32_t before = shuffle_from(value, lane_id() - distance);
    value += lane_id() >= distance ? before : 0;
  }
  return value;
}

// Groups [begin, end) in units of `per_unit` aligned groups; a slot takes every `num_slots`-th.
struct GroupWalk {
  int begin = 0;
  int end = 0;
  int per_unit = 1;
  int num_slots = 1;
  int unit = 0;
  int group = 0;

  static ASSAY_DEVICE GroupWalk of(int begin, int end, int per_unit, int slot, int num_slots) {
    GroupWalk walk;
    walk.begin = begin;
    walk.end = end;
    walk.per_unit = per_unit;
    walk.num_slots = num_slots;
    walk.unit = begin / per_unit + slot;
    const int first = walk.unit * per_unit;
    walk.group = first < begin ? begin : first;
    return walk;
  }

  ASSAY_DEVICE bool is_done() const { return group >= end; }

  ASSAY_DEVICE bool ends_unit() const {
    return group + 1 >= end || group + 1 == (unit + 1) * per_unit;
  }

  ASSAY_DEVICE void advance() {
    if (ends_unit()) {
      unit += num_slots;
      group = unit * per_unit;
    } else {
      ++group;
    }
  }
};

// Tiles of a slice: those that hold a key of the block's range, or all of them up to its end.
struct SliceSpan {
  int first_unit = 0;
  int end_unit = 0;

  ASSAY_DEVICE bool is_empty() const { return first_unit >= end_unit; }

  ASSAY_DEVICE bool has(int unit) const { return unit >= first_unit && unit < end_unit; }
};

// What a block's tiles hold. `loaded` bounds what is read; tiles before it are visited, as zeros,
// unless `skips`.
struct KeySpan {
  KeyRange loaded;
  int tile = kStepKeys;
  bool skips = true;

  ASSAY_DEVICE SliceSpan of_slice(int slice) const {
    const int first_key = slice * kSliceKeys;
    const int begin = skips && loaded.begin > first_key ? loaded.begin - first_key : 0;
    const int end = loaded.end - first_key < kSliceKeys ? loaded.end - first_key : kSliceKeys;
    SliceSpan span;
    if (begin < end) {
      const int units = tile / kStepKeys;
      span.first_unit = begin / tile * units;
      span.end_unit = (end + tile - 1) / tile * units;
    }
    return span;
  }
};

// Tiles in the order of use: for each group of the walk, for each of its slices from `first_slice`
// in steps of `slice_step`, the tiles of keys, then those of values.
struct TileCursor {
  GroupWalk walk = {};
  KeySpan keys = {};
  int first_slice = 0;
  int slice_step = 1;
  int slice = 0;
  bool is_values = false;
  int unit = 0;
  SliceSpan span = {};

  ASSAY_DEVICE void start() {
    slice = first_slice;
    is_values = false;
    settle();
  }

  ASSAY_DEVICE bool is_done() const { return walk.is_done(); }

  ASSAY_DEVICE int first_key() const {
    return (walk.group * kSlices + slice) * kSliceKeys + unit * kStepKeys;
  }

  ASSAY_DEVICE void advance() {
    unit += keys.tile / kStepKeys;
    if (unit < span.end_unit) {
      return;
    }
    if (!is_values) {
      is_values = true;
      unit = span.first_unit;
      return;
    }
    is_values = false;
    next_slice();
    settle();
  }

 private:
  ASSAY_DEVICE void next_slice() {
    slice += slice_step;
    if (slice >= kSlices) {
      slice = first_slice;
      walk.advance();
    }
  }

  // Moves on to a slice with tiles.
  ASSAY_DEVICE void settle() {
    while (!walk.is_done()) {
      span = keys.of_slice(walk.group * kSlices + slice);
      if (!span.is_empty()) {
        unit = span.first_unit;
        return;
      }
      next_slice();
    }
  }
};

}  // namespace assay::kernels::attention
