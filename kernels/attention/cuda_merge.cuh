// The merge of a row's heads: the states of each in order, loads first, and the quotient. Where
// there are few states a warp folds 256 dims alone; else the warps of a block share 128 dims: each
// takes a stretch of runs, and one of them folds the runs in order.
#pragma once

#include "kernels/attention/cuda_item_plan.cuh"
#include "kernels/attention/cuda_state.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kSharedMergeDims = 128;  // of a block: four a lane
inline constexpr int kLoneMergeDims = 256;    // of a warp: eight a lane, one or two heads of a row
inline constexpr int kMostMergeWarps = 8;

// What a lane works on: a head of a row from dim `at` on.
struct MergeTask {
  std::int32_t row;
  std::int32_t head;
  int at;
  bool is_shared;  // by the block's warps

  template <int kDim>
  static ASSAY_DEVICE MergeTask of(bool is_shared, std::int32_t num_heads) {
    const auto block = static_cast<std::uint32_t>(block_id());
    if (is_shared) {
      constexpr int kParts = kDim / kSharedMergeDims;
      const std::uint32_t number = block / kParts;
      const auto heads = static_cast<std::uint32_t>(num_heads);
      return {static_cast<std::int32_t>(number / heads),
              static_cast<std::int32_t>(number % heads),
              static_cast<int>(block % kParts) * kSharedMergeDims + lane_id() * 4,
              true};
    }
    constexpr int kHeads = kLoneMergeDims / kDim;
    constexpr int kHeadLanes = kLanes / kHeads;
    const auto number = block * kMostMergeWarps + static_cast<std::uint32_t>(warp_id());
    const auto row_warps = static_cast<std::uint32_t>(num_heads + kHeads - 1) / kHeads;
    return {static_cast<std::int32_t>(number / row_warps),
            static_cast<std::int32_t>(number % row_warps) * kHeads + lane_id() / kHeadLanes,
            lane_id() % kHeadLanes * 8,
            false};
  }
};

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

struct MergeOutput {
  std::uint16_t* out;
  float* result;  // null: not stored
};

// kFloats dims of a state.
template <int kFloats>
struct MergeState {
  static constexpr int kFours = kFloats / 4;

  float m = 0;
  float l = 0;
  Float4 o[kFours] = {};

  ASSAY_DEVICE void fold(const MergeState& later) {
    const FoldFactors factors = fold_factors(m, later.m);
    m = factors.m;
    l = factors.fold(l, later.l);
    fold_dims(factors, later.o);
  }

  ASSAY_DEVICE void fold_dims(const FoldFactors& factors, const Float4 (&later)[kFours]) {
    ASSAY_UNROLL
    for (int i = 0; i < kFloats; ++i) {
      float& value = o[i / 4].values[i % 4];
      value = factors.fold(value, later[i / 4].values[i % 4]);
    }
  }

  static ASSAY_DEVICE MergeState load(const StateArrays& arrays,
                                      std::int64_t place,
                                      int dim,
                                      int at) {
    MergeState state;
    state.m = arrays.m[place];
    state.l = arrays.l[place];
    const auto* o = reinterpret_cast<const Float4*>(arrays.o + place * dim + at);
    ASSAY_UNROLL
    for (int i = 0; i < kFours; ++i) {
      state.o[i] = o[i];
    }
    return state;
  }

  ASSAY_DEVICE void store(const StateArrays& arrays, std::int64_t place, int dim, int at) const {
    if (at == 0) {
      arrays.m[place] = m;
      arrays.l[place] = l;
    }
    auto* to = reinterpret_cast<Float4*>(arrays.o + place * dim + at);
    ASSAY_UNROLL
    for (int i = 0; i < kFours; ++i) {
      to[i] = o[i];
    }
  }
};

// The states of consecutive runs, in order: of each run what is folded already, then groups, then
// slices.
class StateCursor {
 public:
  struct Entry {
    std::int32_t number;  // of the slice, run or group
    bool is_slice;
    bool is_run;
    bool ends_group;
    bool ends_run;
  };

  ASSAY_DEVICE StateCursor(const MergeRow& row, int first_run, int end_run)
      : row_(row),
        run_(first_run),
        end_run_(end_run),
        group_(larger_place(first_run * kRunGroups, row.group_begin)),
        slice_(larger_place(group_ * kSlices, row.begin_slice)) {}

  ASSAY_DEVICE bool is_done() const { return run_ >= end_run_; }

  ASSAY_DEVICE Entry next() {
    const int end_group = smaller_place((run_ + 1) * kRunGroups, row_.group_end);
    Entry entry = {group_, false, false, true, false};
    const std::int32_t end_folded = row_.end_folded_group(run_);
    if (group_ < end_folded) {
      entry.is_run = true;
      entry.number = run_;
      group_ = smaller_place(end_folded, end_group);
    } else if (group_ < row_.first_slice_group) {
      ++group_;
    } else {
      slice_ = larger_place(slice_, group_ * kSlices);
      entry.number = slice_++;
      entry.is_slice = true;
      entry.ends_group = slice_ % kSlices == 0 || slice_ == row_.end_slice;
      group_ += entry.ends_group ? 1 : 0;
    }
    entry.ends_run = group_ == end_group;
    run_ += entry.ends_run ? 1 : 0;
    return entry;
  }

 private:
  const MergeRow& row_;
  int run_;
  int end_run_;
  int group_;
  int slice_;
};

inline constexpr int kMostMergeRuns = kLanes;  // that are folded at a time

// Dynamic shared memory: states of runs.
struct MergeMemory {
  static constexpr int kRunElements = kLanes + 1;  // o of each lane, then m and l

  static ASSAY_HOST_DEVICE int bytes(int num_runs) {
    return smaller_place(num_runs, kMostMergeRuns) * kRunElements *
           static_cast<int>(sizeof(Float4));
  }
};

// Folds a fold's next state in. The first one is copied.
template <Defect kDefect, class State>
ASSAY_DEVICE void fold_in(State& state, bool& has_state, const State& next) {
  if (!has_state) {
    state = next;
  } else if constexpr (kDefect == Defect::kMergesInReverse) {
    State last = next;
    last.fold(state);
    state = last;
  } else {
    state.fold(next);
  }
  has_state = true;
}

// Calls take(state) with each of runs [first_run, end_run) in order.
template <class State, int kBatch, int kDim, Defect kDefect, class Take>
ASSAY_DEVICE void merge_runs(const MergeRow& row, int first_run, int end_run, int at, Take& take) {
  StateCursor cursor(row, first_run, end_run);
  State group;
  State run;
  bool has_group = false;
  bool has_run = false;
  for (int batch = 0; !cursor.is_done(); ++batch) {
    State loaded[kBatch];
    std::int32_t slices[kBatch];  // that the states are of; -1: a group's or a run's
    unsigned group_ends = 0;
    unsigned run_ends = 0;
    int count = 0;
    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      if (!cursor.is_done()) {
        const StateCursor::Entry entry = cursor.next();
        slices[i] = entry.is_slice ? entry.number : -1;
        group_ends |= entry.ends_group ? 1U << i : 0U;
        run_ends |= entry.ends_run ? 1U << i : 0U;
        count = i + 1;
        const StateArrays table = {entry.is_run     ? row.runs.m
                                   : entry.is_slice ? row.slices.m
                                                    : row.partials.m,
                                   entry.is_run     ? row.runs.l
                                   : entry.is_slice ? row.slices.l
                                                    : row.partials.l,
                                   entry.is_run     ? row.runs.o
                                   : entry.is_slice ? row.slices.o
                                                    : row.partials.o};
        loaded[i] = State::load(table, entry.number * row.num_states + row.place, kDim, at);
      }
    }
    ASSAY_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      if (i >= count) {
        continue;
      }
      bool is_dropped = false;
      if constexpr (kDefect == Defect::kDropsFourthSlice ||
                    kDefect == Defect::kDropsFourthSliceInChunk) {
        is_dropped = slices[i] >= 0 && slices[i] % kSlices == kSlices - 1 &&
                     (kDefect == Defect::kDropsFourthSlice || batch > 0);
      }
      if (!is_dropped) {
        fold_in<kDefect>(group, has_group, loaded[i]);
      }
      if ((group_ends >> i & 1U) == 0) {
        continue;
      }
      const std::int32_t stored = slices[i] / kSlices;
      if (slices[i] >= 0 && has_group && stored >= row.first_stored_group) {
        group.store(row.partials, stored * row.num_states + row.place, kDim, at);
      }
      if (has_group) {
        fold_in<kDefect>(run, has_run, group);
      }
      has_group = false;
      if ((run_ends >> i & 1U) != 0) {
        take(run);
        has_run = false;
      }
    }
  }
}

// The factors of a fold over `count` runs in order, a lane for each of them: of the state so far
// and of the run. Maxima come first, since nothing else of the fold needs the one before.
struct RunFactors {
  float m;  // the largest up to the lane's run
  float before;
  float own;

  ASSAY_DEVICE RunFactors(float run_max, float max_before) {
    m = larger_of(run_max, max_before);
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const float other = shuffle_from(m, lane_id() - distance);
      m = lane_id() >= distance ? larger_of(other, m) : m;
    }
    const float up_to = shuffle_from(m, lane_id() - 1);
    const float last = lane_id() == 0 ? max_before : up_to;
    float factors[2] = {add_bits(last, -m), add_bits(run_max, -m)};
    exp_bits_each(factors);
    before = factors[0];
    own = factors[1];
  }
};

using SharedState = MergeState<4>;
using LoneState = MergeState<8>;

// The states of `count` runs in `memory`, folded in order after `total`; the first of all is
// copied.
ASSAY_DEVICE void fold_runs(SharedState& total, bool is_first, const Float4* memory, int count) {
  const int lane = lane_id();
  // Lanes past the last run repeat it, which changes no maximum.
  const int own = lane < count ? lane : count - 1;
  const Float4 sums = memory[own * MergeMemory::kRunElements + kLanes];
  const float first_max = shuffle_from(sums.values[0], 0);
  const RunFactors factors(sums.values[0], is_first ? first_max : total.m);
  constexpr int kAtOnce = 4;
  for (int first = 0; first < count; first += kAtOnce) {
    Float4 o[kAtOnce][1];
    ASSAY_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int run = smaller_place(first + i, count - 1);
      o[i][0] = memory[run * MergeMemory::kRunElements + lane];
    }
    ASSAY_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const float l = shuffle_from(sums.values[1], first + i);
      const FoldFactors fold = {shuffle_from(factors.m, first + i),
                                shuffle_from(factors.before, first + i),
                                shuffle_from(factors.own, first + i)};
      if (first + i >= count) {
        continue;
      }
      if (is_first && first + i == 0) {
        total.l = l;
        total.o[0] = o[i][0];
      } else {
        total.l = fold.fold(total.l, l);
        total.fold_dims(fold, o[i]);
      }
      total.m = fold.m;
    }
  }
}

// Where a warp leaves the states of its runs for the one that folds them.
struct RunMemory {
  Float4* next;

  ASSAY_DEVICE void operator()(const SharedState& run) {
    next[lane_id()] = run.o[0];
    if (lane_id() == 0) {
      next[kLanes] = {run.m, run.l, 0.0F, 0.0F};
    }
    next += MergeMemory::kRunElements;
  }
};

struct RunFold {
  LoneState total;
  bool has_total = false;

  ASSAY_DEVICE void operator()(const LoneState& run) {
    fold_in<Defect::kNone>(total, has_total, run);
  }
};

// The block's warps together; its first has the row's state. True in that warp.
template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE bool merge_together(const MergeRow& row, int at, SharedState& total) {
  const int first_run = row.group_begin / kRunGroups;
  const int end_run = (row.group_end + kRunGroups - 1) / kRunGroups;
  const int num_warps = num_threads() / kLanes;
  auto* memory = reinterpret_cast<Float4*>(shared_memory());
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

template <int kDim, Defect kDefect, int kFloats>
ASSAY_DEVICE void finish_row(const MergeState<kFloats>& total,
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
  constexpr int kLoneBatch = 1;
  RunFold runs;
  merge_runs<LoneState, kLoneBatch, kDim, kDefect>(row,
                                                   row.group_begin / kRunGroups,
                                                   (row.group_end + kRunGroups - 1) / kRunGroups,
                                                   task.at,
                                                   runs);
  finish_row<kDim, kDefect>(runs.total, output, row.place, task.at);
}

}  // namespace assay::kernels::attention
