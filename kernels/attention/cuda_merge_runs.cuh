// The states of runs, one run after the other: loads of a batch first, then its folds in order.
#pragma once

#include "kernels/attention/cuda_merge_row.cuh"
#include "kernels/attention/cuda_merge_state.cuh"
#include "kernels/attention/cuda_walk.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// What the places of whole runs hold, and which of them end something, as bits.
struct MergePlaces {
  float m;
  float l;
  std::int32_t count;
  std::uint32_t group_ends;
  std::uint32_t run_ends;
  std::uint32_t stored;  // groups of slices that are stored
};

// Calls take(run, place of its last state) with each run in order, after one take.begin(maximum
// where a run ends, the last place of the run before, whether there are more runs than one).
template <bool kFoldsSlices, class State, int kBatch, int kDim, Defect kDefect, class Take>
ASSAY_DEVICE void fold_states(
    const MergeRow& row, const MergeEntry& entry, const MergePlaces& places, int at, Take& take) {
  using Span = LaneSpan<State::kWidth>;
  const int own = Span::place();
  LaneFactors groups;
  LaneFactors runs;
  State group;
  State run;
  group.clear();
  run.clear();
  ASSAY_NO_UNROLL
  for (int first = 0; first < places.count; first += kBatch) {
    Float4 loaded[kBatch][State::kFours];
    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      // Past the last one it is loaded again.
      const int place = smaller_place(first + i, places.count - 1);
      const auto* o = reinterpret_cast<const Float4*>(Span::shuffle_from(entry.o, place) + at);
      ASSAY_UNROLL
      for (int four = 0; four < State::kFours; ++four) {
        loaded[i][four] = o[four];
      }
    }
    if (first == 0) {
      const int first_of_group = Span::last_of(places.group_ends << 1 | 1);
      const int first_of_run = Span::last_of(places.run_ends << 1 | 1);
      groups = kFoldsSlices ? LaneFactors::of<State::kWidth>(places.m, first_of_group, own - 1)
                            : LaneFactors::alone(places.m);
      runs = LaneFactors::alone((places.group_ends >> own & 1) != 0 ? groups.m : kNoScore);
      if (places.run_ends != places.group_ends) {
        runs = LaneFactors::of<State::kWidth>(runs.m, first_of_run, first_of_group - 1);
      }
      take.begin((places.run_ends >> own & 1) != 0 ? runs.m : kNoScore,
                 first_of_run - 1,
                 (places.run_ends & (places.run_ends - 1)) != 0);
    }
    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const int place = first + i;
      if (place >= places.count) {
        break;
      }
      float l = Span::shuffle_from(places.l, place);
      if constexpr (kFoldsSlices) {
        group.template fold_in<kDefect>(groups, place, l, loaded[i]);
        if ((places.group_ends >> place & 1) == 0) {
          continue;
        }
        l = group.l;
        ASSAY_UNROLL
        for (int four = 0; four < State::kFours; ++four) {
          loaded[i][four] = group.o[four];
        }
        group.clear();
      }
      if ((places.stored >> place & 1) != 0) {
        State stored;
        stored.m = Span::shuffle_from(groups.m, place);
        stored.l = l;
        ASSAY_UNROLL
        for (int four = 0; four < State::kFours; ++four) {
          stored.o[four] = loaded[i][four];
        }
        const std::int32_t number = Span::shuffle_from(entry.slice, place) / kSlices;
        stored.store(row.partials, number * row.num_states + row.place, kDim, at);
      }
      run.template fold_in<kDefect>(runs, place, l, loaded[i]);
      if ((places.run_ends >> place & 1) != 0) {
        run.m = Span::shuffle_from(runs.m, place);
        take(run, place);
        run.clear();
      }
    }
  }
}

// Folds the states of whole runs, at the first `count` places.
template <class State, int kBatch, int kDim, Defect kDefect, class Take>
ASSAY_DEVICE void merge_states(
    const MergeRow& row, const MergeEntry& entry, int count, int at, Take& take) {
  using Span = LaneSpan<State::kWidth>;
  const bool is_there = Span::place() < count;
  MergePlaces places;
  places.count = count;
  places.group_ends = Span::mask(is_there && entry.ends_group);
  places.run_ends = Span::mask(is_there && entry.ends_run);
  places.stored = Span::mask(is_there && entry.ends_group && entry.slice >= 0 &&
                             entry.slice / kSlices >= row.first_stored_group);
  const bool folds_slices = places.group_ends != Span::mask(is_there);
  wait_for_grid_before();
  places.m = is_there ? *entry.m : kNoScore;
  places.l = is_there ? *entry.l : 0.0F;
  if constexpr (kDefect == Defect::kDropsFourthSlice ||
                kDefect == Defect::kDropsFourthSliceInChunk) {
    if (entry.slice % kSlices == kSlices - 1 &&
        (kDefect == Defect::kDropsFourthSlice || Span::place() >= kBatch)) {
      places.m = kNoScore;
      places.l = 0.0F;
    }
  }
  if (folds_slices) {
    fold_states<true, State, kBatch, kDim, kDefect>(row, entry, places, at, take);
  } else {
    fold_states<false, State, kBatch, kDim, kDefect>(row, entry, places, at, take);
  }
}

// The same for runs [first_run, end_run), as many at a time as have a place for each state. One
// run's have.
template <class State, int kBatch, int kDim, Defect kDefect, class Take>
ASSAY_DEVICE void merge_runs(const MergeRow& row, int first_run, int end_run, int at, Take& take) {
  constexpr int kWidth = State::kWidth;
  const int own = LaneSpan<kWidth>::place();
  ASSAY_NO_UNROLL
  for (int begin = first_run; begin < end_run; begin += kLanes) {
    const int own_run = begin + lane_id();
    const std::int32_t end =
        sum_up_to_lane(own_run < end_run ? RunStates::of(row, own_run).count() : 0);
    const std::int32_t total = shuffle_from(end, kLanes - 1);
    ASSAY_NO_UNROLL
    for (std::int32_t done = 0; done < total;) {
      const int num_runs = warp_sum(end <= done + kWidth ? 1 : 0);
      const std::int32_t until = shuffle_from(end, num_runs - 1);
      // The lane's state is of the first run that ends behind it.
      const std::int32_t state = done + own;
      int run = 0;
      for (int step = kLanes / 2; step > 0; step /= 2) {
        run += shuffle_from(end, run + step - 1) <= state ? step : 0;
      }
      const std::int32_t end_before = shuffle_from(end, run - 1);
      const MergeEntry entry =
          MergeEntry::of(row, begin + run, state - (run == 0 ? 0 : end_before), kDim);
      merge_states<State, kBatch, kDim, kDefect>(row, entry, until - done, at, take);
      done = until;
    }
  }
}

}  // namespace assay::kernels::attention
