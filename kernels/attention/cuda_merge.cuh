// The merge of a row's heads: the states of each in order, loads first, and the quotient. Where
// there are few states a warp folds one or two heads alone; else the warps of a block share 128
// dims: each takes a stretch of runs, and one of them folds the runs in order. A lane knows one
// state: where it lies, found before the states are there, and by which factors it folds.
#pragma once

#include "kernels/attention/cuda_item_plan.cuh"
#include "kernels/attention/cuda_state.cuh"

#include <bit>
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
    const auto head =
        static_cast<std::int32_t>(number % row_warps) * kHeads + lane_id() / kHeadLanes;
    // A head past the last repeats it: the warp stays whole.
    return {static_cast<std::int32_t>(number / row_warps),
            smaller_place(head, num_heads - 1),
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

ASSAY_DEVICE const float* shuffle_from(const float* pointer, int lane) {
  const auto bits = reinterpret_cast<std::uint64_t>(pointer);
  const auto low = static_cast<std::uint32_t>(shuffle_from(static_cast<std::int32_t>(bits), lane));
  const auto high = static_cast<std::uint64_t>(
      static_cast<std::uint32_t>(shuffle_from(static_cast<std::int32_t>(bits >> 32), lane)));
  return reinterpret_cast<const float*>(high << 32 | low);
}

// kWidth lanes of a warp, from a multiple of kWidth on.
template <int kWidth>
struct LaneSpan {
  ASSAY_DEVICE static int place() { return lane_id() % kWidth; }

  ASSAY_DEVICE static int first_lane() { return lane_id() - place(); }

  template <class Value>
  ASSAY_DEVICE static Value shuffle_from(Value value, int place) {
    return attention::shuffle_from(value, first_lane() + place);
  }

  // Places where it is true, as bits.
  ASSAY_DEVICE static std::uint32_t mask(bool is_true) {
    return warp_mask(is_true) >> first_lane() & (0xFFFFFFFFU >> (kLanes - kWidth));
  }

  // The highest of `places` up to the own one; there is one.
  ASSAY_DEVICE static int last_of(std::uint32_t places) {
    const std::uint32_t up_to = places & (0xFFFFFFFFU >> (kLanes - 1 - place()));
#ifdef __CUDA_ARCH__
    return kLanes - 1 - __clz(static_cast<int>(up_to));
#else
    return kLanes - 1 - std::countl_zero(up_to);
#endif
  }
};

// The factors of a fold in order, a lane for each of its states: of the state so far, and of the
// lane's. Maxima come first, since nothing else of the fold needs the one before.
struct LaneFactors {
  float m;  // the largest up to the lane's
  float before;
  float own;

  // Of a state that is alone in its fold.
  static ASSAY_DEVICE LaneFactors alone(float max) { return {max, 0.0F, 1.0F}; }

  // The fold begins at place `first`, after `max_before`; the one before the lane's in it is at
  // `last`, below `first`: none.
  template <int kWidth>
  static ASSAY_DEVICE LaneFactors of(float max, int first, int last, float max_before = kNoScore) {
    const int place = LaneSpan<kWidth>::place();
    float m = max;
    for (int distance = 1; distance < kWidth; distance *= 2) {
      const float other = shuffle_from(m, lane_id() - distance);
      m = place - distance >= first ? larger_of(other, m) : m;
    }
    m = larger_of(max_before, m);
    const float at_last = LaneSpan<kWidth>::shuffle_from(m, last);
    float factors[2] = {add_bits(last < first ? max_before : at_last, -m), add_bits(max, -m)};
    exp_bits_each(factors);
    return {m, factors[0], factors[1]};
  }
};

// A lane's dims of a state that kWidth lanes share. Nothing is -0, so that the first state of a
// fold needs no case: its factors are 0 and 1, -0 times 0 is -0, and x + -0 is x.
template <int kFloats, int kWidthOf>
struct MergeState {
  static constexpr int kWidth = kWidthOf;
  static constexpr int kFours = kFloats / 4;

  float m;
  float l;
  Float4 o[kFours];

  // But for m.
  ASSAY_DEVICE void clear() {
    l = -0.0F;
    ASSAY_UNROLL
    for (int i = 0; i < kFloats; ++i) {
      o[i / 4].values[i % 4] = -0.0F;
    }
  }

  // The state at a place of a fold, but for m.
  template <Defect kDefect>
  ASSAY_DEVICE void fold_in(const LaneFactors& factors,
                            int place,
                            float later_l,
                            const Float4 (&later)[kFours]) {
    const float before = LaneSpan<kWidth>::shuffle_from(factors.before, place);
    const float own = LaneSpan<kWidth>::shuffle_from(factors.own, place);
    l = folded<kDefect>(before, own, l, later_l);
    ASSAY_UNROLL
    for (int i = 0; i < kFloats; ++i) {
      float& value = o[i / 4].values[i % 4];
      value = folded<kDefect>(before, own, value, later[i / 4].values[i % 4]);
    }
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

 private:
  template <Defect kDefect>
  static ASSAY_DEVICE float folded(float before, float own, float value, float later) {
    if constexpr (kDefect == Defect::kMergesInReverse) {
      return FoldFactors{0.0F, own, before}.fold(later, value);
    }
    return FoldFactors{0.0F, before, own}.fold(value, later);
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

inline constexpr int kMostMergeRuns = kLanes;  // that are folded at a time

// Dynamic shared memory: states of runs.
struct MergeMemory {
  static constexpr int kRunElements = kLanes + 1;  // o of each lane, then m and l

  static ASSAY_HOST_DEVICE int bytes(int num_runs) {
    return smaller_place(num_runs, kMostMergeRuns) * kRunElements *
           static_cast<int>(sizeof(Float4));
  }
};

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
