#include "kernels/tree_attention/data.h"

#include "tests/kernels/tree_attention/made_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

double value_of(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

Plan plan_of(const std::string& data,
             const std::string& dim = "128",
             const std::string& committed = "2600") {
  return parse_plan(workload_with({{"dim", dim},
                                   {"rows", "7"},
                                   {"committed", committed},
                                   {"tree", "binary"},
                                   {"data", data}},
                                  11))
      .value();
}

std::vector<std::uint16_t> query(const Plan& plan, std::int32_t row, std::int32_t head) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(plan.dim));
  fill_query(plan, 0, row, head, bits);
  return bits;
}

std::vector<std::uint16_t> key(const Plan& plan, std::int32_t index, bool is_drafted = false) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(plan.dim));
  fill_key(plan, {.stream = 0, .index = index, .is_drafted = is_drafted}, 0, bits);
  return bits;
}

std::vector<std::uint16_t> value(const Plan& plan, std::int32_t index, bool is_drafted = false) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(plan.dim));
  fill_value(plan, {.stream = 0, .index = index, .is_drafted = is_drafted}, 0, bits);
  return bits;
}

double score(const std::vector<std::uint16_t>& q, const std::vector<std::uint16_t>& k) {
  double dot = 0;
  for (std::size_t d = 0; d < q.size(); ++d) {
    dot += value_of(q[d]) * value_of(k[d]);
  }
  return dot / std::sqrt(static_cast<double>(q.size()));
}

TEST(Data, IsFiniteOfEveryKind) {
  for (const std::string data : {"normal",
                                 "zero_qk",
                                 "one_hot_v",
                                 "planted",
                                 "large_logits",
                                 "constant_logits",
                                 "cancelling",
                                 "tiny"}) {
    const Plan plan = plan_of(data);
    for (const auto& bits : {query(plan, 3, 5),
                             key(plan, 9),
                             key(plan, 2, true),
                             value(plan, 9),
                             value(plan, 2, true)}) {
      EXPECT_TRUE(std::ranges::all_of(bits, [](std::uint16_t one) {
        return (one & 0x7f80U) != 0x7f80U;
      })) << data;
    }
  }
}

TEST(Data, DiffersByKeyHeadStreamAndSeed) {
  Plan plan = plan_of("normal");
  EXPECT_NE(key(plan, 1), key(plan, 2));
  EXPECT_NE(key(plan, 1), key(plan, 1, true));
  EXPECT_NE(key(plan, 1), value(plan, 1));
  EXPECT_NE(query(plan, 0, 1), query(plan, 0, 2));
  const std::vector<std::uint16_t> before = key(plan, 1);
  plan.seed = 12;
  EXPECT_NE(before, key(plan, 1));
}

TEST(Data, IsNearNormal) {
  const Plan plan = plan_of("normal");
  double sum = 0;
  double squares = 0;
  for (std::int32_t i = 0; i < 1'000; ++i) {
    for (const std::uint16_t bits : key(plan, i)) {
      sum += value_of(bits);
      squares += value_of(bits) * value_of(bits);
    }
  }
  EXPECT_NEAR(sum / 128'000, 0.0, 0.02);
  EXPECT_NEAR(squares / 128'000, 1.0, 0.02);
}

// The share of the softmax of row `row` that each of its keys has.
std::map<std::pair<bool, std::int32_t>, double> shares_of(const Plan& plan, std::int32_t row) {
  const Stream& stream = plan.whole[0];
  const std::vector<std::uint16_t> q = query(plan, row, 0);
  std::map<std::pair<bool, std::int32_t>, double> shares;
  for (std::int32_t i = 0; i < stream.committed; ++i) {
    shares[{false, i}] = score(q, key(plan, i));
  }
  for (std::int32_t at = row; at >= 0; at = stream.parents[static_cast<std::size_t>(at)]) {
    shares[{true, at}] = score(q, key(plan, at, true));
  }
  double total = 0;
  for (auto& [id, share] : shares) {
    share = std::exp(share);
    total += share;
  }
  for (auto& [id, share] : shares) {
    share /= total;
  }
  return shares;
}

TEST(Data, PlantsKeysThatARowCannotMiss) {
  for (const std::string dim : {"128", "256"}) {
    const Plan plan = plan_of("planted", dim);
    for (const std::int32_t row : {0, 2, 6}) {
      const auto shares = shares_of(plan, row);
      for (const std::int32_t committed : {0, 384, 511, 512, 2'599}) {
        EXPECT_GE(shares.at({false, committed}), 0.12) << dim << " " << row << " " << committed;
      }
      const std::int32_t parent = plan.whole[0].parents[static_cast<std::size_t>(row)];
      for (const std::int32_t drafted : {row, std::max(parent, 0), 0}) {
        EXPECT_GE(shares.at({true, drafted}), 0.12) << dim << " " << row << " " << drafted;
      }
    }
  }
}

TEST(Data, PlantedKeysOfOtherRowsAreNotHeard) {
  const Plan plan = plan_of("planted");
  // Row 4 is no ancestor of row 5; its own listener is row 4 alone.
  EXPECT_EQ(score(query(plan, 5, 0), key(plan, 4, true)), 0.0);
  EXPECT_GT(score(query(plan, 4, 0), key(plan, 4, true)), 10.0);
}

TEST(Data, ZeroQueriesAndKeysAreZero) {
  const Plan plan = plan_of("zero_qk");
  EXPECT_TRUE(std::ranges::all_of(query(plan, 1, 1), [](int bits) { return bits == 0; }));
  EXPECT_TRUE(std::ranges::all_of(key(plan, 1), [](int bits) { return bits == 0; }));
  EXPECT_FALSE(std::ranges::all_of(value(plan, 1), [](int bits) { return bits == 0; }));
}

TEST(Data, OneHotValuesHaveAPlaceForEachKey) {
  const Plan plan = plan_of("one_hot_v", "128", "50");
  std::set<std::ptrdiff_t> places;
  const auto take = [&](const std::vector<std::uint16_t>& bits) {
    EXPECT_EQ(std::ranges::count(bits, 0), 127);
    places.insert(std::ranges::find(bits, 0x3f80) - bits.begin());
  };
  for (std::int32_t i = 0; i < 50; ++i) {
    take(value(plan, i));
  }
  for (std::int32_t row = 0; row < 7; ++row) {
    take(value(plan, row, true));
  }
  EXPECT_EQ(places.size(), 57U);
  EXPECT_EQ(*places.rbegin(), 56);
}

TEST(Data, LargeScoresAreFarApartOrEqual) {
  for (const std::string dim : {"128", "256"}) {
    const Plan plan = plan_of("large_logits", dim);
    std::set<double> scores;
    for (std::int32_t i = 0; i < 200; ++i) {
      scores.insert(score(query(plan, 1, 1), key(plan, i)));
    }
    EXPECT_EQ(scores.size(), 9U);
    EXPECT_GE(*scores.rbegin(), 1e5);
    EXPECT_LE(*scores.begin(), -1e5);
    for (auto one = std::next(scores.begin()); one != scores.end(); ++one) {
      EXPECT_GE(*one - *std::prev(one), 1'000);
    }
  }
}

TEST(Data, ConstantScoresAreAlikeAndBelowAnySentinel) {
  for (const std::string dim : {"128", "256"}) {
    const Plan plan = plan_of("constant_logits", dim);
    const double first = score(query(plan, 0, 0), key(plan, 0));
    EXPECT_LE(first, -6.7e4);
    EXPECT_EQ(score(query(plan, 4, 7), key(plan, 99)), first);
    EXPECT_EQ(score(query(plan, 4, 7), key(plan, 3, true)), first);
  }
}

TEST(Data, CancellingTermsAreFarLargerThanTheirSums) {
  const Plan plan = plan_of("cancelling");
  const std::vector<std::uint16_t> q = query(plan, 1, 1);
  const std::vector<std::uint16_t> k = key(plan, 1);
  double magnitude = 0;
  for (std::size_t d = 0; d < q.size(); ++d) {
    magnitude += std::fabs(value_of(q[d]) * value_of(k[d]));
  }
  EXPECT_GT(magnitude, 1'000);
  EXPECT_LT(std::fabs(score(q, k)), 20);
  EXPECT_GT(value_of(value(plan, 2)[0]), 200);
  EXPECT_LT(value_of(value(plan, 3)[0]), -200);
}

TEST(Data, TinyValuesLieBelowTheNormalRangeWithBothZeros) {
  const Plan plan = plan_of("tiny");
  std::set<std::uint16_t> seen;
  for (std::int32_t i = 0; i < 50; ++i) {
    for (const std::uint16_t bits : value(plan, i)) {
      EXPECT_EQ(bits & 0x7f80, 0);
      seen.insert(bits);
    }
  }
  EXPECT_TRUE(seen.contains(0));
  EXPECT_TRUE(seen.contains(0x8000));
  EXPECT_EQ(seen.size(), 2U + 128U);
}

TEST(Unread, FillsAlikeFromAnyBeginning) {
  Plan plan = plan_of("normal");
  for (const Unread kind : {Unread::kNan, Unread::kInf, Unread::kRandom}) {
    plan.unread = kind;
    std::vector<std::uint16_t> whole(64);
    std::vector<std::uint16_t> part(24);
    fill_unread(plan, 0, whole);
    fill_unread(plan, 40, part);
    EXPECT_TRUE(std::ranges::equal(std::span(whole).subspan(40), part));
  }
}

}  // namespace
}  // namespace assay::kernels::tree_attention
