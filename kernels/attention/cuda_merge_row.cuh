// Where the states of a row and head lie, run by run: what is folded already, then groups, then
// slices.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_item_plan.cuh"
#include "kernels/attention/cuda_state.cuh"
#include "kernels/attention/cuda_walk.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// What is merged, and from where.
struct MergeRow {
  StateArrays partials;
  StateArrays runs;
  StateArrays slices;
  std::int64_t num_states;  // of a group, a run or a slice
  std::int64_t place;       // of the row and head among them
  std::int32_t group_begin;
  std::int32_t group_end;
  std::int32_t num_run_groups;     // no group from it on lies in `runs`
  std::int32_t first_slice_group;  // this and later groups lie as slices
  std::int32_t begin_slice;        // slices there are: [begin_slice, end_slice)
  std::int32_t end_slice;
  std::int32_t first_stored_group;  // of those folded from slices: this and later ones are stored
  StreamCut cut = {};
  bool is_cut = false;  // else all groups below num_run_groups lie in `runs`

  // Groups of `run` below it lie folded in `runs`.
  ASSAY_DEVICE std::int32_t end_folded_group(std::int32_t run) const {
    return is_cut ? smaller_place(num_run_groups, cut.end_folded_group(run)) : num_run_groups;
  }
};

// The states of one run, in order: what is folded already, then groups, then slices.
struct RunStates {
  bool is_folded;  // the groups before first_group lie folded in `runs`
  std::int32_t first_group;
  std::int32_t end_group;  // of those that lie as groups
  std::int32_t first_slice;
  std::int32_t end_slice;

  static ASSAY_DEVICE RunStates of(const MergeRow& row, int run) {
    const std::int32_t begin = larger_place(run * kRunGroups, row.group_begin);
    const std::int32_t end = smaller_place((run + 1) * kRunGroups, row.group_end);
    const std::int32_t end_folded = row.end_folded_group(run);
    RunStates states;
    states.is_folded = begin < end_folded;
    states.first_group = states.is_folded ? smaller_place(end_folded, end) : begin;
    states.end_group = larger_place(states.first_group, smaller_place(end, row.first_slice_group));
    states.first_slice = larger_place(states.end_group * kSlices, row.begin_slice);
    states.end_slice =
        larger_place(states.first_slice, smaller_place(end * kSlices, row.end_slice));
    return states;
  }

  // At most 32; at most 16 unless all slices lie by themselves.
  ASSAY_DEVICE std::int32_t count() const {
    return (is_folded ? 1 : 0) + end_group - first_group + end_slice - first_slice;
  }
};

// A lane's state among those that are folded together.
struct MergeEntry {
  const float* m;
  const float* l;
  const float* o;
  std::int32_t slice;  // -1: a group or a run
  bool ends_group;
  bool ends_run;

  // The place-th of a run.
  static ASSAY_DEVICE MergeEntry of(const MergeRow& row, int run, std::int32_t place, int dim) {
    const RunStates states = RunStates::of(row, run);
    const std::int32_t group = states.first_group + place - (states.is_folded ? 1 : 0);
    const std::int32_t slice = states.first_slice + group - states.end_group;
    const bool is_run = states.is_folded && place == 0;
    const bool is_slice = !is_run && group >= states.end_group;
    const StateArrays& table = is_run ? row.runs : is_slice ? row.slices : row.partials;
    const std::int64_t at = (is_run ? run : is_slice ? slice : group) * row.num_states + row.place;
    return {.m = table.m + at,
            .l = table.l + at,
            .o = table.o + at * dim,
            .slice = is_slice ? slice : -1,
            .ends_group = !is_slice || (slice + 1) % kSlices == 0 || slice + 1 == row.end_slice,
            .ends_run = place + 1 == states.count()};
  }
};

}  // namespace assay::kernels::attention
