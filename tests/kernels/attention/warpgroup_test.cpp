// The warpgroup form on the SIMT machine: states of slices, groups and runs, byte for byte those of
// the contract written out, and nothing else written.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/cuda_swapped.cuh"
#include "kernels/attention/cuda_warpgroup.cuh"
#include "tests/kernels/attention/warpgroup_case.h"
#include "tests/kernels/simt/attention_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::kernels::attention {
namespace {

// The contract, written out, for one (row, query head).
ModelRow model_row(const WarpgroupCase& given,
                   const CaseData& data,
                   std::int32_t stream,
                   std::int32_t row,
                   int head,
                   KeyRange range) {
  const int kv_head = head / given.group;
  return {.query = data.q(row, head),
          .key = [&data, stream, kv_head](int at) { return data.k(stream, kv_head, at); },
          .value = [&data, stream, kv_head](int at) { return data.v(stream, kv_head, at); },
          .range = range,
          .dim = given.dim,
          .scale = kScale,
          .step = tensor_core_step};
}

// ---- The machine ----

struct Results {
  std::vector<float> m;
  std::vector<float> l;
  std::vector<float> o;
  std::vector<bool> is_wanted;
  std::int64_t states_each = 0;

  StateArrays table() { return {m.data(), l.data(), o.data()}; }

  Results(std::int32_t numbers, const CaseData& data, int dim) {
    const std::size_t states = static_cast<std::size_t>(numbers) *
                               static_cast<std::size_t>(data.total_rows() * data.num_heads());
    states_each = std::int64_t{data.total_rows()} * data.num_heads();
    m.assign(states, std::numeric_limits<float>::quiet_NaN());
    l = m;
    is_wanted.assign(states, false);
    o.assign(states * static_cast<std::size_t>(dim), std::numeric_limits<float>::quiet_NaN());
  }
};

bool same_bits(float a, float b) {
  return bits_of(a) == bits_of(b);
}

// An empty state is not stored.
void expect_state(const MaybeState& wanted,
                  Results& found,
                  std::int64_t number,
                  std::int64_t place) {
  if (!wanted.has_value()) {
    return;
  }
  const ModelState& state = *wanted;
  const auto at = static_cast<std::size_t>(number * found.states_each + place);
  found.is_wanted[at] = true;
  ASSERT_TRUE(same_bits(state.m, found.m[at])) << "m of " << number << " at " << place;
  ASSERT_TRUE(same_bits(state.l, found.l[at])) << "l of " << number << " at " << place;
  for (std::size_t column = 0; column < state.o.size(); ++column) {
    ASSERT_TRUE(same_bits(state.o[column], found.o[at * state.o.size() + column]))
        << "o of " << number << " at " << place << ", column " << column;
  }
}

void expect_nothing_else(const Results& found) {
  for (std::size_t at = 0; at < found.m.size(); ++at) {
    const std::size_t dim = found.o.size() / found.m.size();
    if (!found.is_wanted[at]) {
      ASSERT_TRUE(std::isnan(found.m[at]) && std::isnan(found.l[at])) << at;
      ASSERT_TRUE(std::all_of(&found.o[at * dim], &found.o[at * dim] + dim, [](float value) {
        return std::isnan(value);
      })) << at;
    }
  }
}

// How the groups of a stream left, written out: of each group, whether as slices, and of each run,
// up to which group folded together.
struct Cut {
  SliceRange slices;
  std::int32_t first_whole = 0;  // runs that left whole
  std::int32_t end_whole = 0;
  std::int32_t piece_slices = kRunSlices;

  std::int32_t end_folded(std::int32_t run) const {
    if (run >= first_whole && run < end_whole) {
      return (run + 1) * kRunGroups;
    }
    if (piece_slices <= kSlices) {
      return 0;
    }
    const std::int32_t begin = std::max(slices.begin, run * kRunSlices);
    return (begin / piece_slices + 1) * piece_slices / kSlices;
  }
};

// Streams in order take whole runs for all their units while the plan has them.
template <class Source>
std::vector<Cut> cuts_of(const Source& source, const ItemPlan& plan, int tile_pairs) {
  std::vector<Cut> cuts;
  std::int32_t runs_before = 0;
  for (std::int32_t stream = 0; stream < source.num_streams(); ++stream) {
    const KeyRange keys = source.keys(stream);
    const std::int32_t pairs = source.num_rows(stream) * source.num_heads_per_key();
    const std::int32_t units = (pairs + tile_pairs - 1) / tile_pairs * source.num_kv_heads();
    Cut cut = {.slices = {keys.begin / kSliceKeys, (keys.end + kSliceKeys - 1) / kSliceKeys},
               .piece_slices = plan.piece_slices};
    cut.first_whole = cut.end_whole = (cut.slices.begin + kRunSlices - 1) / kRunSlices;
    const std::int32_t runs = std::max(0, cut.slices.end / kRunSlices - cut.first_whole);
    for (std::int32_t taken = runs_before;
         units > 0 && taken + units <= plan.num_whole && cut.end_whole < cut.first_whole + runs;
         taken += units) {
      ++cut.end_whole;
    }
    runs_before += runs * units;
    cuts.push_back(cut);
  }
  return cuts;
}

template <int kDim, int kPairs, bool kMasked>
void expect_the_contract(const WarpgroupCase& given,
                         int num_blocks,
                         int num_stages,
                         const ItemPlan& plan) {
  using Attention = ItemAttention<PolynomialExp, kDim, kPairs, TestSource<kMasked>>;
  using Shape = typename Attention::Shape;
  const CaseData data(given);
  const TestSource<kMasked> source = {given, data};
  const PanelMaps maps = data.maps();
  std::int32_t num_groups = 0;
  for (const CaseStream& stream : given.streams) {
    num_groups = std::max(num_groups, num_groups_of(stream.num_keys));
  }
  Results groups(num_groups, data, kDim);
  Results runs(num_runs_of(num_groups), data, kDim);
  Results slices(num_groups * kSlices, data, kDim);
  const StateOutput output = {
      groups.table(), runs.table(), slices.table(), data.total_rows(), data.num_heads()};
  const std::string error =
      simt::run({.num_blocks = num_blocks,
                 .num_threads = Shape::kThreads,
                 .shared_bytes = static_cast<int>(Shape::shared_bytes(num_stages)),
                 .step = tensor_core_step},
                [&] {
                  Attention(source, maps, output, kScale, shared_memory(), num_stages)
                      .run(plan, {static_cast<std::int32_t>(block_id()), num_blocks});
                });
  ASSERT_EQ("", error);

  const std::vector<Cut> cuts = cuts_of(source, plan, Shape::kPairs);
  for (std::int32_t stream = 0; stream < source.num_streams(); ++stream) {
    const Cut& cut = cuts[static_cast<std::size_t>(stream)];
    for (std::int32_t local = 0; local < source.num_rows(stream); ++local) {
      const KeyRange range = kMasked ? source.range(stream, local) : source.keys(stream);
      for (int head = 0; head < data.num_heads(); ++head) {
        const std::int32_t row = source.row(stream, local);
        const std::int64_t place = std::int64_t{row} * data.num_heads() + head;
        MaybeState run;
        const ModelRow model = model_row(given, data, stream, row, head, range);
        const std::int32_t end_group = num_groups_of(source.keys(stream).end);
        for (std::int32_t group = cut.slices.begin / kSlices; group < end_group; ++group) {
          const bool has_slices = plan.leaves_slices() || group >= source.num_whole_groups(stream);
          const bool is_folded = group < cut.end_folded(group / kRunGroups);
          MaybeState folded;
          for (std::int32_t slice = group * kSlices; slice < (group + 1) * kSlices; ++slice) {
            const MaybeState state = model.slice(slice);
            fold_model(folded, state);
            if (has_slices) {
              expect_state(state, slices, slice, place);
            }
          }
          if (!has_slices && !is_folded) {
            expect_state(folded, groups, group, place);
          }
          if (!has_slices && is_folded) {
            fold_model(run, folded);
          }
          if ((group + 1) % kRunGroups == 0 || group + 1 == end_group) {
            expect_state(run, runs, group / kRunGroups, place);
            run.reset();
          }
        }
      }
    }
  }
  expect_nothing_else(groups);
  expect_nothing_else(runs);
  expect_nothing_else(slices);
}

constexpr ItemPlan kRuns = {.piece_slices = kRunSlices};
constexpr ItemPlan kGroups = {.piece_slices = kSlices};
constexpr ItemPlan kLoneSlices = {.piece_slices = 1};

TEST(Warpgroup, StoresEachGroup) {
  expect_the_contract<128, 64, false>(
      {.dim = 128, .group = 6, .num_kv_heads = 1, .streams = {{2, 1'024}}}, 1, 3, kGroups);
}

TEST(Warpgroup, FoldsRunsAcrossStreamsWithOrWithoutKeys) {
  expect_the_contract<128, 64, false>(
      {.dim = 128,
       .group = 5,
       .num_kv_heads = 2,
       .streams = {{1, 511}, {3, 1'030}, {0, 600}, {2, 0}, {1, 512}}},
      2,
      2,
      kRuns);
}

TEST(Warpgroup, CutsWhatWholeRunsLeave) {
  // A whole run of the first stream only; what is behind it and the other streams in pieces.
  const WarpgroupCase given = {
      .dim = 128, .group = 1, .num_kv_heads = 1, .streams = {{1, 4'736}, {1, 512}, {1, 4'224}}};
  for (const std::int32_t piece : {kSlices, 2 * kSlices}) {
    expect_the_contract<128, 64, false>(given, 2, 2, {.num_whole = 1, .piece_slices = piece});
  }
}

TEST(Warpgroup, CutsAWindowAtBothEnds) {
  // From within a piece to within another, over the border of a run; within one piece.
  const WarpgroupCase given = {
      .dim = 128, .group = 2, .num_kv_heads = 1, .streams = {{2, 4'800, 2'000}, {2, 700, 30}}};
  for (const std::int32_t piece : {kSlices, 2 * kSlices, 4 * kSlices}) {
    expect_the_contract<128, 64, true>(given, 2, 2, {.num_whole = 2, .piece_slices = piece});
  }
}

TEST(Warpgroup, StoresEachSlice) {
  expect_the_contract<128, 64, false>(
      {.dim = 128, .group = 6, .num_kv_heads = 2, .streams = {{1, 1'024}, {2, 513}}},
      3,
      2,
      kLoneSlices);
}

TEST(Warpgroup, StoresEachSliceOfAWindow) {
  expect_the_contract<256, 64, true>(
      {.dim = 256, .group = 4, .num_kv_heads = 1, .streams = {{2, 700, 200}}}, 2, 4, kLoneSlices);
}

TEST(Warpgroup, SharesPanelsBetweenTwoTiles) {
  expect_the_contract<128, 128, false>(
      {.dim = 128, .group = 12, .num_kv_heads = 1, .streams = {{8, 512}}}, 1, 4, kRuns);
}

TEST(Warpgroup, SharesColumnsBetweenTwoWarpgroups) {
  expect_the_contract<256, 64, false>(
      {.dim = 256, .group = 6, .num_kv_heads = 1, .streams = {{1, 1'024}}}, 1, 4, kRuns);
}

TEST(Warpgroup, SwapsOperandsForFewPairs) {
  // A tile that is not full, more than one tile, every kind of state; groups cut off as slices.
  const WarpgroupCase given = {.dim = 128,
                               .group = 6,
                               .num_kv_heads = 2,
                               .streams = {{1, 1'155}, {3, 600}, {0, 512}, {2, 0}}};
  for (const ItemPlan& plan : {kRuns, kGroups, kLoneSlices}) {
    expect_the_contract<128, 16, false>(given, 2, 3, plan);
  }
}

TEST(Warpgroup, SwapsOperandsAtHeadDim256) {
  const WarpgroupCase given = {
      .dim = 256, .group = 12, .num_kv_heads = 1, .streams = {{2, 1'024}, {1, 130}}};
  expect_the_contract<256, 16, false>(given, 1, 6, kRuns);
  expect_the_contract<256, 16, false>(given, 2, 3, kGroups);
}

TEST(Warpgroup, MasksWithSwappedOperands) {
  const WarpgroupCase given = {.dim = 128,
                               .group = 3,
                               .num_kv_heads = 2,
                               .streams = {{3, 900, 500}, {2, 136, 100, 5}, {2, 4'200, 300}}};
  expect_the_contract<128, 16, true>(given, 2, 4, kRuns);
  expect_the_contract<128, 16, true>(given, 3, 2, kGroups);
  expect_the_contract<256, 16, true>(
      {.dim = 256, .group = 9, .num_kv_heads = 1, .streams = {{3, 700, 200}}}, 2, 4, kLoneSlices);
}

TEST(Warpgroup, MasksEachRowsWindow) {
  expect_the_contract<128, 64, true>({.dim = 128,
                                      .group = 4,
                                      .num_kv_heads = 1,
                                      .streams = {{3, 900, 500}, {2, 130, 200}, {2, 1'025, 3}}},
                                     1,
                                     3,
                                     kGroups);
}

TEST(Warpgroup, MasksAcrossTheBordersOfARun) {
  expect_the_contract<128, 64, true>(
      {.dim = 128, .group = 1, .num_kv_heads = 1, .streams = {{2, 4'200, 300}}}, 3, 3, kRuns);
}

TEST(Warpgroup, CopiesRowsOneByOneWhereNoBoxIs) {
  // Own keys from within a box of eight rows, at its edge and at a slice's; none; nothing else; a
  // window that begins in a box, and behind the mapped keys.
  const std::vector<CaseStream> streams = {{2, 140, 100, 5},
                                           {3, 136, 200, 8},
                                           {2, 131, 131, 3},
                                           {2, 200, 77},
                                           {2, 9, 20, 9},
                                           {2, 300, 21, 30}};
  expect_the_contract<128, 64, true>(
      {.dim = 128, .group = 3, .num_kv_heads = 2, .streams = streams}, 2, 3, kGroups);
  expect_the_contract<256, 64, true>(
      {.dim = 256, .group = 2, .num_kv_heads = 1, .streams = streams}, 1, 2, kLoneSlices);
}

TEST(Warpgroup, WalksMoreStreamsThanAWarpHasLanes) {
  WarpgroupCase given = {.dim = 128, .group = 1, .num_kv_heads = 2, .streams = {}};
  for (int stream = 0; stream < 70; ++stream) {
    given.streams.push_back(stream % 5 == 0    ? CaseStream{1, 128}
                            : stream % 11 == 0 ? CaseStream{1, 640}
                            : stream % 2 == 0  ? CaseStream{1, 127}
                                               : CaseStream{0, 512});
  }
  for (const ItemPlan& plan : {kRuns, kLoneSlices, ItemPlan{.num_whole = 9}}) {
    expect_the_contract<128, 64, false>(given, 3, 2, plan);
  }
}

TEST(Warpgroup, PublishesItemsFarAhead) {
  // Items of one slice, as many ahead as the stages hold.
  expect_the_contract<128, 64, false>(
      {.dim = 128, .group = 1, .num_kv_heads = 1, .streams = {{1, 4'096}}},
      1,
      kMostItemStages,
      kLoneSlices);
}

}  // namespace
}  // namespace assay::kernels::attention
