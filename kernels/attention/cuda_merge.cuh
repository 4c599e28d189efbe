// The merge of one (row, head): each warp folds the groups of one run, loads first, and the runs
// are folded in order; then the quotient is stored. A block covers 128 dims of a row.
#pragma once

#include "kernels/attention/cuda_state.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kMergeDims = 128;  // of a block: four a lane
inline constexpr int kMostMergeWarps = 8;

// What is merged, and from where.
struct MergeRow {
  StateArrays partials;
  StateArrays runs;
  StateArrays slices;
  std::int64_t num_states;  // of a group, a run or a slice
  std::int64_t place;       // of the row and head among them
  std::int32_t group_begin;
  std::int32_t group_end;
  std::int32_t num_run_groups;      // groups below it lie folded in `runs`
  std::int32_t begin_slice;         // of end_slice
  std::int32_t end_slice;           // all groups lie as slices, from begin_slice; 0: none does
  std::int32_t first_stored_group;  // of those folded from slices: this and later ones are stored
};

struct MergeOutput {
  std::uint16_t* out;
  float* result;  // null: not stored
};

struct MergeState {
  float m = 0;
  float l = 0;
  Float4 o = {};

  ASSAY_DEVICE void fold(const MergeState& later) {
    const FoldFactors factors = fold_factors(m, later.m);
    m = factors.m;
    l = factors.fold(l, later.l);
    ASSAY_UNROLL
    for (int i = 0; i < 4; ++i) {
      o.values[i] = factors.fold(o.values[i], later.o.values[i]);
    }
  }

  static ASSAY_DEVICE MergeState load(const StateArrays& arrays,
                                      std::int64_t place,
                                      int dim,
                                      int at) {
    MergeState state;
    state.m = arrays.m[place];
    state.l = arrays.l[place];
    state.o = *reinterpret_cast<const Float4*>(arrays.o + place * dim + at);
    return state;
  }

  ASSAY_DEVICE void store(const StateArrays& arrays, std::int64_t place, int dim, int at) const {
    if (at == 0) {
      arrays.m[place] = m;
      arrays.l[place] = l;
    }
    *reinterpret_cast<Float4*>(arrays.o + place * dim + at) = o;
  }
};

// The states of one run, in order: its slices; or the fold of its groups that lie in a run, then
// its other groups.
struct RunStates {
  int count = 0;
  int first = 0;         // slice or group of state 0, or of state 1 after a run's
  bool has_run = false;  // state 0 is a run's

  static ASSAY_DEVICE RunStates of(const MergeRow& row, int run) {
    const int first_group = larger(run * kRunGroups, row.group_begin);
    const int end_group = smaller((run + 1) * kRunGroups, row.group_end);
    RunStates states;
    if (row.end_slice > 0) {
      states.first = larger(first_group * kSlices, row.begin_slice);
      states.count = smaller(end_group * kSlices, row.end_slice) - states.first;
      return states;
    }
    states.has_run = first_group < row.num_run_groups;
    states.first = states.has_run ? smaller(row.num_run_groups, end_group) : first_group;
    states.count = end_group - states.first + (states.has_run ? 1 : 0);
    return states;
  }

  static ASSAY_DEVICE int larger(int a, int b) { return a > b ? a : b; }

  static ASSAY_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
};

template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE MergeState merge_run(const MergeRow& row, int run, int at) {
  const RunStates states = RunStates::of(row, run);
  const bool has_slices = row.end_slice > 0;
  MergeState total;
  MergeState group;
  bool has_total = false;
  bool has_group = false;
  for (int base = 0; base < states.count; base += kBatch) {
    MergeState loaded[kBatch];
    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      if (base + i < states.count) {
        int number = base + i;
        if constexpr (kDefect == Defect::kMergesInReverse) {
          number = states.count - 1 - number;
        }
        const bool is_run = states.has_run && number == 0;
        const int place = is_run ? run : states.first + number - (states.has_run ? 1 : 0);
        loaded[i] = MergeState::load(is_run       ? row.runs
                                     : has_slices ? row.slices
                                                  : row.partials,
                                     place * row.num_states + row.place,
                                     kDim,
                                     at);
      }
    }

    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const int number = base + i;
      if (number < states.count) {
        bool is_dropped = false;
        if constexpr (kDefect == Defect::kDropsFourthSlice) {
          is_dropped = has_slices && (states.first + number) % kSlices == kSlices - 1;
        } else if constexpr (kDefect == Defect::kDropsFourthSliceInChunk) {
          is_dropped = has_slices && base > 0 && (states.first + number) % kSlices == kSlices - 1;
        }
        if (!is_dropped) {
          if (has_group) {
            group.fold(loaded[i]);
          } else {
            group = loaded[i];
          }
          has_group = true;
        }
        const bool ends_group = !has_slices || (states.first + number) % kSlices == kSlices - 1 ||
                                number + 1 == states.count;
        if (ends_group && has_group) {
          const int number_of_group = (states.first + number) / kSlices;
          if (has_slices && number_of_group >= row.first_stored_group) {
            group.store(row.partials, number_of_group * row.num_states + row.place, kDim, at);
          }
          if (has_total) {
            total.fold(group);
          } else {
            total = group;
          }
          has_total = true;
          has_group = false;
        }
      }
    }
  }
  return total;
}

// Dynamic shared memory: a run's state for each warp.
struct MergeMemory {
  static ASSAY_HOST_DEVICE int bytes(int num_warps) {
    return num_warps * (kLanes + 1) * static_cast<int>(sizeof(Float4));
  }
};

// `part` is the block's part of the row's dims.
template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE void merge_row(const MergeRow& row, const MergeOutput& output, int part) {
  auto* memory = reinterpret_cast<Float4*>(shared_memory());
  const int lane = lane_id();
  const int num_warps = num_threads() / kLanes;
  const int at = part * kMergeDims + lane * 4;
  const int first_run = row.group_begin / kRunGroups;
  const int end_run = (row.group_end + kRunGroups - 1) / kRunGroups;

  MergeState total;
  for (int base = first_run; base < end_run; base += num_warps) {
    const int run = base + warp_id();
    if (run < end_run) {
      const MergeState state = merge_run<kBatch, kDim, kDefect>(row, run, at);
      Float4* mine = memory + warp_id() * (kLanes + 1);
      mine[lane] = state.o;
      if (lane == 0) {
        mine[kLanes] = {state.m, state.l, 0.0F, 0.0F};
      }
    }
    sync_block();
    if (warp_id() == 0) {
      for (int i = 0; i < num_warps && base + i < end_run; ++i) {
        const Float4* theirs = memory + i * (kLanes + 1);
        const Float4 sums = theirs[kLanes];
        const MergeState state = {sums.values[0], sums.values[1], theirs[lane]};
        if (base + i == first_run) {
          total = state;
        } else {
          total.fold(state);
        }
      }
    }
    sync_block();
  }
  if (warp_id() != 0) {
    return;
  }

  Float4 result;
  ASSAY_UNROLL
  for (int i = 0; i < 4; ++i) {
    result.values[i] = finish(total.o.values[i], total.l);
  }
  if constexpr (kDefect == Defect::kLeavesTailUnwritten) {
    if (at >= kDim - 8) {
      return;
    }
  }
  const std::int64_t place = row.place * kDim + at;
  if (output.result != nullptr) {
    *reinterpret_cast<Float4*>(output.result + place) = result;
  }
  ASSAY_UNROLL
  for (int i = 0; i < 2; ++i) {
    *reinterpret_cast<std::uint32_t*>(output.out + place + 2 * i) =
        pack_bf16(result.values[2 * i], result.values[2 * i + 1]);
  }
}

}  // namespace assay::kernels::attention
