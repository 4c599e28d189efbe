// The merge of one (row, head): its states in order, a stretch of runs to each warp, loads first;
// then the runs are folded in order and the quotient is stored. A block covers 128 dims of a row.
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
  std::int32_t num_run_groups;     // groups below it lie folded in `runs`
  std::int32_t first_slice_group;  // this and later groups lie as slices
  std::int32_t begin_slice;        // slices there are: [begin_slice, end_slice)
  std::int32_t end_slice;
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

// The states of consecutive runs, in order: of each run what is folded already, then groups, then
// slices.
class StateCursor {
 public:
  struct Entry {
    const StateArrays* table;
    std::int32_t number;  // in the table
    bool is_slice;
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
    Entry entry = {&row_.partials, group_, false, true, false};
    if (group_ < row_.num_run_groups) {
      entry.table = &row_.runs;
      entry.number = run_;
      group_ = smaller_place(row_.num_run_groups, end_group);
    } else if (group_ < row_.first_slice_group) {
      ++group_;
    } else {
      slice_ = larger_place(slice_, group_ * kSlices);
      entry.table = &row_.slices;
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
template <Defect kDefect>
ASSAY_DEVICE void fold_in(MergeState& state, bool& has_state, const MergeState& next) {
  if (!has_state) {
    state = next;
  } else if constexpr (kDefect == Defect::kMergesInReverse) {
    MergeState last = next;
    last.fold(state);
    state = last;
  } else {
    state.fold(next);
  }
  has_state = true;
}

// Runs [first_run, end_run) into `memory`, a place for each.
template <int kBatch, int kDim, Defect kDefect>
ASSAY_DEVICE void merge_runs(
    const MergeRow& row, int first_run, int end_run, int at, Float4* memory) {
  StateCursor cursor(row, first_run, end_run);
  MergeState group;
  MergeState total;
  bool has_group = false;
  bool has_total = false;
  for (int batch = 0; !cursor.is_done(); ++batch) {
    MergeState loaded[kBatch];
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
        loaded[i] =
            MergeState::load(*entry.table, entry.number * row.num_states + row.place, kDim, at);
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
        fold_in<kDefect>(total, has_total, group);
      }
      has_group = false;
      if ((run_ends >> i & 1U) != 0) {
        memory[lane_id()] = total.o;
        if (lane_id() == 0) {
          memory[kLanes] = {total.m, total.l, 0.0F, 0.0F};
        }
        memory += MergeMemory::kRunElements;
        has_total = false;
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
  for (int base = first_run; base < end_run; base += kMostMergeRuns) {
    const int count = smaller_place(end_run - base, kMostMergeRuns);
    const int each = (count + num_warps - 1) / num_warps;
    const int begin = each * warp_id();
    const int end = smaller_place(begin + each, count);
    merge_runs<kBatch, kDim, kDefect>(
        row, base + begin, base + end, at, memory + begin * MergeMemory::kRunElements);
    sync_block();
    if (warp_id() == 0) {
      // Lanes past the last run repeat it, which changes no maximum.
      const int own = lane < count ? lane : count - 1;
      const Float4 sums = memory[own * MergeMemory::kRunElements + kLanes];
      const float first_max = shuffle_from(sums.values[0], 0);
      const RunFactors factors(sums.values[0], base == first_run ? first_max : total.m);
      for (int i = 0; i < count; ++i) {
        const Float4 o = memory[i * MergeMemory::kRunElements + lane];
        const float l = shuffle_from(sums.values[1], i);
        const FoldFactors fold = {shuffle_from(factors.m, i),
                                  shuffle_from(factors.before, i),
                                  shuffle_from(factors.own, i)};
        if (base == first_run && i == 0) {
          total = {fold.m, l, o};
          continue;
        }
        total.m = fold.m;
        total.l = fold.fold(total.l, l);
        ASSAY_UNROLL
        for (int j = 0; j < 4; ++j) {
          total.o.values[j] = fold.fold(total.o.values[j], o.values[j]);
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
