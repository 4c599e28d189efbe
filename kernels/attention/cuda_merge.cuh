// The merge of a row's heads: the states of each in order, loads first, and the quotient. Where
// there are few states a warp folds one or two heads alone; else the warps of a block share 128
// dims: each takes a stretch of runs, and one of them folds the runs in order. A lane knows one
// state: where it lies, found before the states are there, and by which factors it folds.
#pragma once

#include "kernels/attention/cuda_merge_row.cuh"
#include "kernels/attention/cuda_merge_runs.cuh"
#include "kernels/attention/cuda_merge_state.cuh"
#include "kernels/attention/cuda_merge_task.cuh"

#include <cstdint>

namespace assay::kernels::attention {

struct MergeOutput {
  std::uint16_t* out;
  float* result;  // null: not stored
};

using SharedState = MergeState<kSharedMergeDims / kLanes, kLanes>;

// The states of `count` runs in `memory`, folded in order after `total`, unless that is cleared.
ASSAY_DEVICE void fold_runs(SharedState& total, bool is_first, const Float4* memory, int count) {
  const int lane = lane_id();
  // Lanes past the last run repeat it, which changes no maximum.
  const int own = lane < count ? lane : count - 1;
  const Float4 sums = memory[own * MergeMemory::kRunElements + kLanes];
  const auto factors =
      LaneFactors::of<kLanes>(sums.values[0], 0, lane - 1, is_first ? kNoScore : total.m);
  constexpr int kAtOnce = 4;
  ASSAY_NO_UNROLL
  for (int first = 0; first < count; first += kAtOnce) {
    Float4 o[kAtOnce][1];
    ASSAY_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int run = smaller_place(first + i, count - 1);
      o[i][0] = memory[run * MergeMemory::kRunElements + lane];
    }
    ASSAY_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < count) {
        total.fold_in<Defect::kNone>(
            factors, first + i, shuffle_from(sums.values[1], first + i), o[i]);
      }
    }
  }
  total.m = shuffle_from(factors.m, count - 1);
}

// Where a warp leaves the states of its runs for the one that folds them.
struct RunMemory {
  Float4* next;

  ASSAY_DEVICE void begin(float /*max*/, int /*last*/, bool /*has_more*/) {}

  ASSAY_DEVICE void operator()(const SharedState& run, int /*place*/) {
    next[lane_id()] = run.o[0];
    if (lane_id() == 0) {
      next[kLanes] = {run.m, run.l, 0.0F, 0.0F};
    }
    next += MergeMemory::kRunElements;
  }
};

// A warp's own fold of its runs.
template <class State>
struct RunFold {
  State total;
  bool has_total = false;
  LaneFactors factors;

  ASSAY_DEVICE void begin(float max, int last, bool has_more) {
    factors = LaneFactors::alone(max);
    if (has_total || has_more) {
      factors = LaneFactors::of<State::kWidth>(max, 0, last, has_total ? total.m : kNoScore);
    }
  }

  ASSAY_DEVICE void operator()(const State& run, int place) {
    total.template fold_in<Defect::kNone>(factors, place, run.l, run.o);
    total.m = LaneSpan<State::kWidth>::shuffle_from(factors.m, place);
    has_total = true;
  }
};

// The block's warps together; its first has the row's state. True in that warp.
template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE bool merge_together(const MergeRow& row, int at, SharedState& total) {
  const int first_run = row.group_begin / kRunGroups;
  const int end_run = (row.group_end + kRunGroups - 1) / kRunGroups;
  const int num_warps = num_threads() / kLanes;
  auto* memory = reinterpret_cast<Float4*>(shared_memory());
  total.clear();
  for (int base = first_run; base < end_run; base += kMostMergeRuns) {
    const int count = smaller_place(end_run - base, kMostMergeRuns);
    const int each = (count + num_warps - 1) / num_warps;
    const int begin = each * warp_id();
    const int end = smaller_place(begin + each, count);
    RunMemory runs = {memory + begin * MergeMemory::kRunElements};
    merge_runs<SharedState, kBatch, kDim, kDefect>(row, base + begin, base + end, at, runs);
    sync_block();
    if (warp_id() == 0) {
      fold_runs(total, base == first_run, memory, count);
    }
    sync_block();
  }
  return warp_id() == 0;
}

template <int kDim, Defect kDefect, int kFloats, int kWidth>
ASSAY_DEVICE void finish_row(const MergeState<kFloats, kWidth>& total,
                             const MergeOutput& output,
                             std::int64_t row_place,
                             int at) {
  const std::int64_t place = row_place * kDim + at;
  ASSAY_UNROLL
  for (int i = 0; i < kFloats / 4; ++i) {
    if constexpr (kDefect == Defect::kLeavesTailUnwritten) {
      if (at + 4 * i >= kDim - 8) {
        return;
      }
    }
    Float4 result;
    ASSAY_UNROLL
    for (int j = 0; j < 4; ++j) {
      result.values[j] = finish(total.o[i].values[j], total.l);
    }
    if (output.result != nullptr) {
      *reinterpret_cast<Float4*>(output.result + place + 4 * i) = result;
    }
    ASSAY_UNROLL
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<std::uint32_t*>(output.out + place + 4 * i + 2 * j) =
          pack_bf16(result.values[2 * j], result.values[2 * j + 1]);
    }
  }
}

template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE void merge_row(const MergeRow& row, const MergeOutput& output, const MergeTask& task) {
  if (task.is_shared) {
    SharedState total;
    if (merge_together<kBatch, kDim, kDefect>(row, task.at, total)) {
      finish_row<kDim, kDefect>(total, output, row.place, task.at);
    }
    return;
  }
  constexpr int kLoneBatch = kBatch < 2 ? kBatch : 2;
  using State = MergeState<8, kDim / 8>;
  RunFold<State> runs;
  runs.total.clear();
  merge_runs<State, kLoneBatch, kDim, kDefect>(row,
                                               row.group_begin / kRunGroups,
                                               (row.group_end + kRunGroups - 1) / kRunGroups,
                                               task.at,
                                               runs);
  finish_row<kDim, kDefect>(runs.total, output, row.place, task.at);
}

}  // namespace assay::kernels::attention
