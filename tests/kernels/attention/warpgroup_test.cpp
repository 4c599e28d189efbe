// The warpgroup form on the SIMT machine: states of groups and runs, byte for byte those of the
// contract written out.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/cuda_warpgroup.cuh"
#include "kernels/inputs.h"
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

constexpr std::uint16_t kPoison = 0x7fff;  // a NaN
constexpr float kScale = 0.088388346F;

struct Stream {
  std::int32_t num_rows = 0;
  std::int32_t num_keys = 0;
  std::int32_t window = 0;  // masked: row r sees keys [num_keys - window + r, num_keys)
};

struct Case {
  int dim = 128;
  int group = 6;  // query heads of a key head
  int num_kv_heads = 2;
  std::vector<Stream> streams;
};

std::uint16_t random_bf16(std::uint64_t key, std::uint64_t index) {
  return to_bf16(random_normal(key, index));
}

// Keys, values and queries of a case, head-major, a margin of NaN around each stream's keys.
class Data {
 public:
  explicit Data(const Case& given) : case_(given) {
    const std::uint64_t key = make_key(7, "warpgroup");
    const auto dim = static_cast<std::size_t>(given.dim);
    std::int32_t row = 0;
    for (const Stream& stream : given.streams) {
      first_row_.push_back(row);
      row += stream.num_rows;
      offset_.push_back(k_.size());
      const std::size_t keys = static_cast<std::size_t>(stream.num_keys);
      k_.resize(k_.size() + (keys + 1) * dim * static_cast<std::size_t>(given.num_kv_heads),
                kPoison);
      v_.resize(k_.size(), kPoison);
      for (std::size_t at = offset_.back(); at < k_.size(); ++at) {
        const std::size_t position =
            (at - offset_.back()) / dim / static_cast<std::size_t>(given.num_kv_heads);
        const bool is_unseen =
            stream.window > 0 && position + static_cast<std::size_t>(stream.window) < keys;
        if (position < keys && !is_unseen) {
          k_[at] = random_bf16(key, 2 * at);
          v_[at] = random_bf16(key, 2 * at + 1);
        }
      }
    }
    num_rows_ = row;
    q_.resize(static_cast<std::size_t>(row * num_heads()) * dim);
    for (std::size_t at = 0; at < q_.size(); ++at) {
      q_[at] = random_bf16(make_key(8, "q"), at);
    }
  }

  int num_heads() const { return case_.group * case_.num_kv_heads; }

  std::int32_t total_rows() const { return num_rows_; }

  std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return first_row_[static_cast<std::size_t>(stream)] + local;
  }

  const std::uint16_t* q(std::int32_t row, int head) const {
    return q_.data() + (std::int64_t{row} * num_heads() + head) * case_.dim;
  }

  const std::uint16_t* k(std::int32_t stream, int kv_head, std::int32_t position) const {
    return k_.data() + at(stream, kv_head, position);
  }

  const std::uint16_t* v(std::int32_t stream, int kv_head, std::int32_t position) const {
    return v_.data() + at(stream, kv_head, position);
  }

 private:
  std::int64_t at(std::int32_t stream, int kv_head, std::int32_t position) const {
    return static_cast<std::int64_t>(offset_[static_cast<std::size_t>(stream)]) +
           (std::int64_t{position} * case_.num_kv_heads + kv_head) * case_.dim;
  }

  const Case& case_;
  std::vector<std::size_t> offset_;
  std::vector<std::int32_t> first_row_;
  std::int32_t num_rows_ = 0;
  std::vector<std::uint16_t> q_;
  std::vector<std::uint16_t> k_;
  std::vector<std::uint16_t> v_;
};

template <bool kMasked>
struct TestSource {
  static constexpr bool kIsMasked = kMasked;

  const Case& given;
  const Data& data;

  const Stream& of(std::int32_t stream) const {
    return given.streams[static_cast<std::size_t>(stream)];
  }

  std::int32_t num_streams() const { return static_cast<std::int32_t>(given.streams.size()); }

  std::int32_t num_kv_heads() const { return given.num_kv_heads; }

  std::int32_t num_heads_per_key() const { return given.group; }

  std::int32_t num_rows(std::int32_t stream) const { return of(stream).num_rows; }

  std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return data.row(stream, local);
  }

  KeyRange keys(std::int32_t stream) const {
    return {kMasked ? std::max(0, of(stream).num_keys - of(stream).window) : 0,
            of(stream).num_keys};
  }

  KeyRange range(std::int32_t stream, std::int32_t local) const {
    return {std::max(0, of(stream).num_keys - of(stream).window + local), of(stream).num_keys};
  }

  GroupRange groups(std::int32_t stream) const {
    return kMasked ? GroupRange{keys(stream).begin / kGroupKeys, num_groups_of(keys(stream).end)}
                   : GroupRange{0, of(stream).num_keys / kGroupKeys};
  }

  const std::uint16_t* q_row(std::int32_t stream, std::int32_t pair, int kv_head) const {
    return data.q(row(stream, pair / given.group), kv_head * given.group + pair % given.group);
  }

  const std::uint16_t* k_row(std::int32_t stream, int kv_head, std::int32_t position) const {
    return data.k(stream, kv_head, position);
  }

  const std::uint16_t* v_row(std::int32_t stream, int kv_head, std::int32_t position) const {
    return data.v(stream, kv_head, position);
  }
};

// The contract, written out, for one (row, query head).
ModelRow model_row(const Case& given,
                   const Data& data,
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
  std::int64_t states_each = 0;

  StateArrays table() { return {m.data(), l.data(), o.data()}; }

  Results(std::int32_t numbers, const Data& data, int dim) {
    const std::size_t states = static_cast<std::size_t>(numbers) *
                               static_cast<std::size_t>(data.total_rows() * data.num_heads());
    states_each = std::int64_t{data.total_rows()} * data.num_heads();
    m.assign(states, std::numeric_limits<float>::quiet_NaN());
    l = m;
    o.assign(states * static_cast<std::size_t>(dim), std::numeric_limits<float>::quiet_NaN());
  }
};

bool same_bits(float a, float b) {
  return bits_of(a) == bits_of(b);
}

// An empty state is not stored.
void expect_state(const MaybeState& wanted,
                  const Results& found,
                  std::int64_t number,
                  std::int64_t place) {
  if (!wanted.has_value()) {
    return;
  }
  const ModelState& state = *wanted;
  const auto at = static_cast<std::size_t>(number * found.states_each + place);
  ASSERT_TRUE(same_bits(state.m, found.m[at])) << "m of " << number << " at " << place;
  ASSERT_TRUE(same_bits(state.l, found.l[at])) << "l of " << number << " at " << place;
  for (std::size_t column = 0; column < state.o.size(); ++column) {
    ASSERT_TRUE(same_bits(state.o[column], found.o[at * state.o.size() + column]))
        << "o of " << number << " at " << place << ", column " << column;
  }
}

template <int kDim, int kTiles, bool kMasked>
void expect_the_contract(const Case& given, int num_blocks, int num_stages, ItemSpill spill) {
  using Shape = WarpgroupShape<kDim, kTiles>;
  const Data data(given);
  const TestSource<kMasked> source = {given, data};
  std::int32_t num_groups = 0;
  for (const Stream& stream : given.streams) {
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
                  WarpgroupAttention<PolynomialExp, kDim, kTiles, TestSource<kMasked>> attention(
                      source, output, kScale, num_blocks, shared_memory(), num_stages);
                  attention.run(spill);
                });
  ASSERT_EQ("", error);

  std::int32_t unit_end = 0;
  std::int32_t num_units = 0;
  for (std::int32_t stream = 0; stream < source.num_streams(); ++stream) {
    num_units += num_units_of(source, stream, Shape::kPairs);
  }
  const ItemPlan plan = plan_items(num_units, num_blocks, spill);
  for (std::int32_t stream = 0; stream < source.num_streams(); ++stream) {
    const std::int32_t first_unit = unit_end;
    unit_end += num_units_of(source, stream, Shape::kPairs);
    const GroupRange span = source.groups(stream);
    const std::int32_t units_of_run =
        num_tiles_of(source, stream, Shape::kPairs) * given.num_kv_heads;
    for (std::int32_t local = 0; local < source.num_rows(stream); ++local) {
      const KeyRange range = kMasked ? source.range(stream, local) : source.keys(stream);
      for (int head = 0; head < data.num_heads(); ++head) {
        const std::int32_t row = source.row(stream, local);
        const std::int32_t pair = local * given.group + head % given.group;
        MaybeState run;
        const ModelRow model = model_row(given, data, stream, row, head, range);
        for (std::int32_t group = span.begin; group < span.end; ++group) {
          const std::int32_t unit = first_unit +
                                    (group / kRunGroups - span.begin / kRunGroups) * units_of_run +
                                    pair / Shape::kPairs * given.num_kv_heads + head / given.group;
          const bool is_whole = unit < plan.num_whole;
          const std::int64_t place = std::int64_t{row} * data.num_heads() + head;
          MaybeState folded;
          for (std::int32_t slice = group * kSlices; slice < (group + 1) * kSlices; ++slice) {
            const MaybeState state = model.slice(slice);
            fold_model(folded, state);
            if (!is_whole && plan.piece_slices == 1) {
              expect_state(state, slices, slice, place);
            }
          }
          fold_model(run, folded);
          const bool ends_run = (group + 1) % kRunGroups == 0 || group + 1 == span.end;
          if (is_whole && ends_run) {
            expect_state(run, runs, group / kRunGroups, place);
          } else if (!is_whole && plan.piece_slices == kSlices) {
            expect_state(folded, groups, group, place);
          }
          if (ends_run) {
            run.reset();
          }
        }
      }
    }
  }
}

TEST(Warpgroup, StoresEachGroup) {
  expect_the_contract<128, 1, false>(
      {.dim = 128, .group = 6, .num_kv_heads = 1, .streams = {{2, 1'024}}},
      1,
      3,
      ItemSpill::kGroup);
}

TEST(Warpgroup, FoldsRunsAcrossStreamsWithOrWithoutKeys) {
  expect_the_contract<128, 1, false>(
      {.dim = 128,
       .group = 5,
       .num_kv_heads = 2,
       .streams = {{1, 511}, {3, 1'030}, {0, 600}, {2, 0}, {1, 512}}},
      2,
      2,
      ItemSpill::kRun);
}

TEST(Warpgroup, SplitsWhatDoesNotFillTheGrid) {
  expect_the_contract<128, 1, false>(
      {.dim = 128, .group = 1, .num_kv_heads = 1, .streams = {{1, 4'608}, {1, 512}}},
      2,
      5,
      ItemSpill::kAuto);
}

TEST(Warpgroup, StoresEachSlice) {
  expect_the_contract<128, 1, false>(
      {.dim = 128, .group = 6, .num_kv_heads = 2, .streams = {{1, 1'024}, {2, 513}}},
      3,
      2,
      ItemSpill::kSlice);
}

TEST(Warpgroup, StoresEachSliceOfAWindow) {
  expect_the_contract<256, 1, true>(
      {.dim = 256, .group = 4, .num_kv_heads = 1, .streams = {{2, 700, 200}}},
      2,
      4,
      ItemSpill::kSlice);
}

TEST(Warpgroup, SharesPanelsBetweenTwoTiles) {
  expect_the_contract<128, 2, false>(
      {.dim = 128, .group = 12, .num_kv_heads = 1, .streams = {{8, 512}}}, 1, 4, ItemSpill::kRun);
}

TEST(Warpgroup, SharesColumnsBetweenTwoWarpgroups) {
  expect_the_contract<256, 1, false>(
      {.dim = 256, .group = 6, .num_kv_heads = 1, .streams = {{1, 1'024}}}, 1, 4, ItemSpill::kRun);
}

TEST(Warpgroup, MasksEachRowsWindow) {
  expect_the_contract<128, 1, true>({.dim = 128,
                                     .group = 4,
                                     .num_kv_heads = 1,
                                     .streams = {{3, 900, 500}, {2, 130, 200}, {2, 1'025, 3}}},
                                    1,
                                    3,
                                    ItemSpill::kGroup);
}

TEST(Warpgroup, MasksAcrossTheBordersOfARun) {
  expect_the_contract<128, 1, true>(
      {.dim = 128, .group = 1, .num_kv_heads = 1, .streams = {{2, 4'200, 300}}},
      3,
      3,
      ItemSpill::kRun);
}

}  // namespace
}  // namespace assay::kernels::attention
