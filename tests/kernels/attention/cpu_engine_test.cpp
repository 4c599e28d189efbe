#include "kernels/attention/cpu_engine.h"

#include "kernels/attention/softmax.h"
#include "kernels/inputs.h"
#include "tests/kernels/attention/naive_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace assay::kernels::attention {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Keys and values of one head, and rows of q. What no row sees is NaN.
struct Case {
  int dim = 128;
  float scale = 0;
  std::vector<KeyRange> ranges;  // one a row
  std::vector<std::uint16_t> q;
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;

  std::int32_t num_keys() const {
    std::int32_t most = 0;
    for (const KeyRange& range : ranges) {
      most = std::max(most, range.end);
    }
    return most;
  }

  bool sees(std::int32_t position) const {
    return std::ranges::any_of(ranges, [&](const KeyRange& range) {
      return position >= range.begin && position < range.end;
    });
  }

  const std::uint16_t* key(std::int32_t position) const {
    return k.data() + static_cast<std::ptrdiff_t>(position) * dim;
  }

  const std::uint16_t* value(std::int32_t position) const {
    return v.data() + static_cast<std::ptrdiff_t>(position) * dim;
  }
};

Case make_case(int dim, std::vector<KeyRange> ranges, float logit_scale = 1.0F) {
  Case made;
  made.dim = dim;
  made.scale = logit_scale / std::sqrt(static_cast<float>(dim));
  made.ranges = std::move(ranges);
  const auto fill = [&](std::string_view name, std::size_t count, std::vector<std::uint16_t>* to) {
    for (std::size_t i = 0; i < count; ++i) {
      to->push_back(to_bf16(random_normal(make_key(3, name), i)));
    }
  };
  const std::size_t size = static_cast<std::size_t>(dim);
  fill("q", made.ranges.size() * size, &made.q);
  fill("k", static_cast<std::size_t>(made.num_keys()) * size, &made.k);
  fill("v", static_cast<std::size_t>(made.num_keys()) * size, &made.v);
  for (std::int32_t position = 0; position < made.num_keys(); ++position) {
    if (!made.sees(position)) {
      const auto at = static_cast<std::size_t>(position) * size;
      std::fill_n(made.k.begin() + static_cast<std::ptrdiff_t>(at), size, std::uint16_t{0x7fc0});
      std::fill_n(made.v.begin() + static_cast<std::ptrdiff_t>(at), size, std::uint16_t{0x7fc0});
    }
  }
  return made;
}

struct Isa {
  std::string name;
  AttendKernel (*attend)(Family family, EngineMutation mutation);
  MergeKernel (*merge)(EngineMutation mutation);
};

std::vector<Isa> isas() {
  std::vector<Isa> all = {{"portable", &portable::attend_kernel, &portable::merge_kernel}};
  if (avx2::is_available()) {
    all.push_back({"avx2", &avx2::attend_kernel, &avx2::merge_kernel});
  }
  return all;
}

struct Choice {
  Family family = Family::kTensorCore;
  EngineMutation attend = EngineMutation::kNone;
  EngineMutation merge = EngineMutation::kNone;
  std::int32_t pairs_per_tile = 32;
  std::int32_t batch = 8;
};

// States of groups [groups][rows], and what the merge makes of them.
struct Results {
  std::vector<float> m;
  std::vector<float> l;
  std::vector<float> o;
  std::vector<float> result;
  std::vector<std::uint16_t> out;

  bool operator==(const Results& other) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() &&
             std::memcmp(a.data(), b.data(), a.size() * sizeof(a.front())) == 0;
    };
    return same(m, other.m) && same(l, other.l) && same(o, other.o) && same(result, other.result) &&
           same(out, other.out);
  }
};

// Everything NaN.
Results empty_results(const Case& made) {
  const std::size_t num_rows = made.ranges.size();
  const std::size_t dim = static_cast<std::size_t>(made.dim);
  const std::size_t states = static_cast<std::size_t>(num_groups_of(made.num_keys())) * num_rows;
  return {.m = std::vector<float>(states, kNaN),
          .l = std::vector<float>(states, kNaN),
          .o = std::vector<float>(states * dim, kNaN),
          .result = std::vector<float>(num_rows * dim, kNaN),
          .out = std::vector<std::uint16_t>(num_rows * dim, 0xffff)};
}

void attend_group(
    const Case& made, const Isa& isa, const Choice& choice, std::int32_t group, Results* results) {
  const std::size_t num_rows = made.ranges.size();
  const std::size_t dim = static_cast<std::size_t>(made.dim);
  const std::int32_t first = group * kGroupKeys;
  for (std::size_t row = 0; row < num_rows;) {
    auto tile = std::make_unique<GroupTile>();
    tile->dim = made.dim;
    tile->scale = made.scale;
    for (; row < num_rows && tile->num_pairs < choice.pairs_per_tile; ++row) {
      const KeyRange keys = {.begin = std::clamp(made.ranges[row].begin - first, 0, kGroupKeys),
                             .end = std::clamp(made.ranges[row].end - first, 0, kGroupKeys)};
      const std::size_t state = static_cast<std::size_t>(group) * num_rows + row;
      if (keys.begin < keys.end) {
        tile->pairs[tile->num_pairs++] = {.q = made.q.data() + row * dim,
                                          .keys = keys,
                                          .m = results->m.data() + state,
                                          .l = results->l.data() + state,
                                          .o = results->o.data() + state * dim};
      }
    }
    for (std::int32_t key = 0; key < kGroupKeys; ++key) {
      if (made.sees(first + key)) {
        tile->k[key] = made.key(first + key);
        tile->v[key] = made.value(first + key);
      }
    }
    isa.attend(choice.family, choice.attend)(*tile);
  }
}

Results run(const Case& made, const Isa& isa, const Choice& choice) {
  Results results = empty_results(made);
  const std::size_t num_rows = made.ranges.size();
  const std::size_t dim = static_cast<std::size_t>(made.dim);
  for (std::int32_t group = 0; group < num_groups_of(made.num_keys()); ++group) {
    attend_group(made, isa, choice, group, &results);
  }
  for (std::size_t row = 0; row < num_rows; ++row) {
    isa.merge(choice.merge)({.dim = made.dim,
                             .first = made.ranges[row].begin / kGroupKeys,
                             .end = num_groups_of(made.ranges[row].end),
                             .batch = choice.batch,
                             .m = results.m.data() + row,
                             .l = results.l.data() + row,
                             .o = results.o.data() + row * dim,
                             .state_stride = static_cast<std::int64_t>(num_rows),
                             .out = results.out.data() + row * dim,
                             .result = results.result.data() + row * dim});
  }
  return results;
}

// By the naive form.
Results expected(const Case& made) {
  Results results = empty_results(made);
  const std::size_t num_rows = made.ranges.size();
  const std::size_t dim = static_cast<std::size_t>(made.dim);
  for (std::size_t row = 0; row < num_rows; ++row) {
    const auto* q = made.q.data() + row * dim;
    const NaiveRow naive = naive_attention(
        std::vector<std::uint16_t>(q, q + dim),
        made.scale,
        made.ranges[row].begin,
        made.ranges[row].end,
        [&](std::int32_t position) { return made.key(position); },
        [&](std::int32_t position) { return made.value(position); });
    for (std::size_t group = 0; group < naive.groups.size(); ++group) {
      const std::size_t state = group * num_rows + row;
      if (naive.groups[group].l != 0.0F) {
        results.m[state] = naive.groups[group].m;
        results.l[state] = naive.groups[group].l;
        std::ranges::copy(naive.groups[group].o, results.o.data() + state * dim);
      }
    }
    std::ranges::copy(naive.result, results.result.data() + row * dim);
    std::ranges::copy(naive.out, results.out.data() + row * dim);
  }
  return results;
}

// The largest error of the output in float64, as a share of the tolerance.
double worst_share(const Case& made, const Results& results) {
  double worst = 0;
  const auto real = [](std::uint16_t bits) { return static_cast<double>(from_bf16(bits)); };
  for (std::size_t row = 0; row < made.ranges.size(); ++row) {
    const KeyRange range = made.ranges[row];
    const auto dim = static_cast<std::size_t>(made.dim);
    std::vector<double> scores;
    for (std::int32_t key = range.begin; key < range.end; ++key) {
      double dot = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        dot += real(made.q[row * dim + d]) * real(made.key(key)[d]);
      }
      scores.push_back(dot * static_cast<double>(made.scale));
    }
    const double most = *std::ranges::max_element(scores);
    for (std::size_t d = 0; d < dim; ++d) {
      double total = 0;
      double sum = 0;
      double magnitude = 0;
      for (std::size_t key = 0; key < scores.size(); ++key) {
        const double weight = std::exp(scores[key] - most);
        const double value = real(made.value(range.begin + static_cast<std::int32_t>(key))[d]);
        total += weight;
        sum += weight * value;
        magnitude += weight * std::abs(value);
      }
      const double half_ulp = std::exp2(std::floor(std::log2(std::abs(sum / total))) - 8);
      const double tolerance = std::exp2(-7) * magnitude / total + half_ulp;
      worst = std::max(worst, std::abs(real(results.out[row * dim + d]) - sum / total) / tolerance);
    }
  }
  return worst;
}

// ---- What must not show ----

const std::vector<std::vector<KeyRange>>& shapes() {
  static const std::vector<std::vector<KeyRange>> all = {
      {{0, 1}},
      {{0, 2}, {0, 7}, {0, 8}, {0, 9}},
      {{0, 127}, {0, 128}, {0, 129}},
      {{0, 511}, {0, 512}, {0, 513}},
      // Neighbours of which one ends, or begins, steps before the other.
      {{0, 120}, {0, 40}, {60, 120}, {0, 200}, {90, 91}},
      // Ranges that begin inside a step, inside a slice, past empty slices, past an empty group.
      {{5, 20}, {127, 130}, {250, 400}, {300, 513}, {511, 512}},
      {{600, 700}, {1'023, 1'025}, {37, 1'030}},
  };
  return all;
}

TEST(CpuEngine, EqualsTheNaiveFormBitForBit) {
  for (const int dim : {128, 256}) {
    for (const std::vector<KeyRange>& ranges : shapes()) {
      const Case made = make_case(dim, ranges);
      const Results naive = expected(made);
      for (const Isa& isa : isas()) {
        EXPECT_TRUE(run(made, isa, {}) == naive)
            << isa.name << ", dim " << dim << ", first range to " << ranges.front().end;
      }
    }
  }
}

TEST(CpuEngine, EqualsTheNaiveFormWhereTheSoftmaxIsSharpOrFlat) {
  for (const float logit_scale : {0x1p-20F, 8.0F, 4'096.0F}) {
    const Case made = make_case(128, {{0, 200}, {90, 640}}, logit_scale);
    const Results naive = expected(made);
    for (const Isa& isa : isas()) {
      EXPECT_TRUE(run(made, isa, {}) == naive) << isa.name << ", scale " << logit_scale;
    }
  }
}

TEST(CpuEngine, EqualsTheNaiveFormOnZerosAndTinyValues) {
  Case made = make_case(128, {{0, 140}, {60, 140}});
  for (std::uint16_t& bits : made.q) {
    bits = 0;
  }
  for (std::size_t i = 0; i < made.v.size(); i += 3) {
    made.v[i] = static_cast<std::uint16_t>(made.v[i] & 0x80ff);  // below 2^-126
  }
  const Results naive = expected(made);
  for (const Isa& isa : isas()) {
    EXPECT_TRUE(run(made, isa, {}) == naive) << isa.name;
  }
}

TEST(CpuEngine, FoldsRunsOfEightGroups) {
  // The last group of a run, the first of the next, and a row that begins in the second run.
  const Case made = make_case(128, {{4'000, 4'097}, {3'500, 4'700}, {4'600, 4'700}});
  const Results naive = expected(made);
  for (const Isa& isa : isas()) {
    for (const std::int32_t batch : {1, 2, 4, 8}) {
      EXPECT_TRUE(run(made, isa, {.batch = batch}) == naive) << isa.name << ", batch " << batch;
    }
  }
}

TEST(CpuEngine, GivesTheSameBitsForAnyTileAndInstructionSet) {
  std::vector<KeyRange> ranges;
  for (std::int32_t row = 0; row < 70; ++row) {
    ranges.push_back({.begin = row * 7 % 90, .end = 130 + row % 11});
  }
  const Case made = make_case(128, ranges);
  for (const Family family : {Family::kTensorCore, Family::kFp32}) {
    const Results alone =
        run(made, isas().front(), {.family = family, .pairs_per_tile = 1, .batch = 1});
    for (const Isa& isa : isas()) {
      for (const std::int32_t pairs : {3, 64}) {
        EXPECT_TRUE(run(made, isa, {.family = family, .pairs_per_tile = pairs}) == alone)
            << isa.name << ", " << pairs << " pairs";
      }
    }
  }
}

TEST(CpuEngine, StaysWithinTheToleranceInBothFamilies) {
  double model = 0;
  double fp32 = 0;
  for (const std::vector<KeyRange>& ranges : shapes()) {
    const Case made = make_case(128, ranges);
    const Isa isa = isas().back();
    model = std::max(model, worst_share(made, run(made, isa, {})));
    fp32 = std::max(fp32, worst_share(made, run(made, isa, {.family = Family::kFp32})));
  }
  EXPECT_LT(model, 0.7);
  // Without rounded weights only the output's rounding is left.
  EXPECT_LT(fp32, model);
  EXPECT_GT(fp32, 0.1);
}

// ---- What must show ----

TEST(CpuEngine, ShowsEveryDefectOfTheArithmetic) {
  const Case made = make_case(128, {{3'600, 4'700}, {3'700, 4'700}});
  const Results naive = expected(made);
  for (const Isa& isa : isas()) {
    for (const EngineMutation mutation : {EngineMutation::kDropsFourthSlice,
                                          EngineMutation::kSlicesInReverse,
                                          EngineMutation::kContractsOneFold}) {
      EXPECT_FALSE(run(made, isa, {.attend = mutation}) == naive)
          << isa.name << " " << static_cast<int>(mutation);
    }
    for (const EngineMutation mutation :
         {EngineMutation::kMergesInReverse, EngineMutation::kLeavesTailUnwritten}) {
      Results found = run(made, isa, {.merge = mutation});
      EXPECT_FALSE(found == naive) << isa.name << " " << static_cast<int>(mutation);
      // And in what the merge writes only.
      found.result = naive.result;
      found.out = naive.out;
      EXPECT_TRUE(found == naive) << isa.name << " " << static_cast<int>(mutation);
    }
  }
}

TEST(CpuEngine, HasNoKernelForADefectOfTheOtherStage) {
  for (const Isa& isa : isas()) {
    EXPECT_EQ(isa.attend(Family::kTensorCore, EngineMutation::kMergesInReverse), nullptr);
    EXPECT_EQ(isa.attend(Family::kFp32, EngineMutation::kSlicesInReverse), nullptr);
    EXPECT_EQ(isa.merge(EngineMutation::kSlicesInReverse), nullptr);
  }
}

}  // namespace
}  // namespace assay::kernels::attention
