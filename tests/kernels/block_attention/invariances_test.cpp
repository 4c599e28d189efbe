#include "kernels/block_attention/plan.h"
#include "kernels/block_attention/workloads.h"
#include "tests/kernels/block_attention/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace assay::kernels::block_attention {
namespace {

const Invariance& invariance(std::string_view name) {
  return *std::ranges::find(invariances(), name, &Invariance::name);
}

TEST(Invariances, HaveValidPairsOfUnlikeNames) {
  EXPECT_EQ(std::ssize(invariances()), 13);
  for (const Invariance& item : invariances()) {
    std::set<std::string> names;
    for (std::int64_t index = 0; index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      EXPECT_TRUE(names.insert(pair.name).second) << item.name << " " << pair.name;
      EXPECT_TRUE(validate(pair.left).ok()) << pair.name;
      EXPECT_TRUE(validate(pair.right).ok()) << pair.name;
      const bool is_one_call = pair.left.axes == pair.right.axes;
      EXPECT_EQ(is_one_call, item.num_repeats > 1 || pair.left_arm != pair.right_arm) << pair.name;
    }
  }
}

// What need not match by place is live at the same places.
TEST(Invariances, WithoutAMatchHaveTheSameLiveElements) {
  for (const Invariance& item : invariances()) {
    for (std::int64_t index = 0; item.matched == nullptr && index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      const auto left = make_problem(pair.left);
      const auto right = make_problem(pair.right);
      for (std::size_t tensor = kOut; tensor <= kPartialO; ++tensor) {
        EXPECT_EQ(left->tensors()[tensor].shape, right->tensors()[tensor].shape);
        const auto a = left->live(tensor);
        const auto b = right->live(tensor);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_EQ(a[i].begin, b[i].begin);
          EXPECT_EQ(a[i].end, b[i].end);
        }
      }
    }
  }
}

bool covers(const std::vector<ElementRange>& live, std::int64_t begin, std::int64_t end) {
  return std::ranges::any_of(
      live, [&](const ElementRange& range) { return range.begin <= begin && end <= range.end; });
}

TEST(Invariances, MatchOnlyLiveElementsAndNeverNone) {
  for (const Invariance& item : invariances()) {
    for (std::int64_t index = 0; item.matched != nullptr && index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      const auto left = make_problem(pair.left);
      const auto right = make_problem(pair.right);
      for (std::size_t tensor = kOut; tensor <= kPartialO; ++tensor) {
        const auto left_live = left->live(tensor);
        const auto right_live = right->live(tensor);
        const std::vector<RangePair> ranges = item.matched(*left, *right, tensor);
        ASSERT_FALSE(ranges.empty()) << item.name << " " << pair.name;
        for (const RangePair& range : ranges) {
          const std::int64_t size = range.left.end - range.left.begin;
          ASSERT_TRUE(covers(left_live, range.left.begin, range.left.end)) << pair.name;
          ASSERT_TRUE(covers(right_live, range.right_begin, range.right_begin + size)) << pair.name;
        }
      }
    }
  }
}

std::int64_t num_matched_rows(std::string_view name, std::int64_t index) {
  const InvariancePair pair = invariance(name).pair(index);
  const auto left = make_problem(pair.left);
  const auto right = make_problem(pair.right);
  return std::ssize(invariance(name).matched(*left, *right, kOut));
}

TEST(Invariances, MatchTheRowsThatTheySpeakOf) {
  EXPECT_EQ(num_matched_rows("alone_equals_batch", 5), 8);
  EXPECT_EQ(num_matched_rows("streams_permuted", 0), 64);
  EXPECT_EQ(num_matched_rows("neighbour_varied", 3), 8);
  EXPECT_EQ(num_matched_rows("neighbour_varied", 4), 8);
  EXPECT_EQ(num_matched_rows("long_beside_short", 0), 2);
  EXPECT_EQ(num_matched_rows("drafted_equals_serial", 1), 10);
  EXPECT_EQ(num_matched_rows("narrow_equals_wide", 1), 5);
  EXPECT_EQ(num_matched_rows("masked_equals_unmasked", 1), 1);
  EXPECT_EQ(num_matched_rows("masked_equals_unmasked", 4), 6);
  EXPECT_EQ(num_matched_rows("fewer_key_heads", 1), 8);
}

// The premise of each pair: a matched row has the same query and the same visible keys and values
// in both calls.
TEST(Invariances, MatchedRowsHaveTheSameInputs) {
  for (const Invariance& item : invariances()) {
    for (const std::int64_t index : {std::int64_t{0}, item.num_pairs - 1}) {
      const InvariancePair pair = item.pair(index);
      if (item.matched == nullptr || item.name == "long_beside_short") {
        continue;
      }
      const Inputs left = make_inputs(pair.left);
      const Inputs right = make_inputs(pair.right);
      const Shape& a = left.shape();
      const Shape& b = right.shape();
      for (const RangePair& range : item.matched(*left.problem, *right.problem, kOut)) {
        const std::int64_t row = range.left.begin / (a.num_heads * a.dim);
        const std::int64_t other = range.right_begin / (b.num_heads * b.dim);
        const std::int64_t stream = row / a.width;
        const std::int64_t other_stream = other / b.width;
        const std::int64_t last = std::min(a.num_heads, b.num_heads) - 1;
        const std::int64_t last_kv = last / a.group();
        ASSERT_EQ(left.query(stream, last, row % a.width, 77),
                  right.query(other_stream, last, other % b.width, 77));
        const attention::KeyRange keys =
            visible_range(a,
                          static_cast<std::int32_t>(left.context(stream)),
                          static_cast<std::int32_t>(row % a.width));
        for (std::int64_t position = keys.begin; position < keys.end; ++position) {
          ASSERT_EQ(left.key(stream, last_kv, position, 31),
                    right.key(other_stream, last_kv, position, 31))
              << pair.name;
          ASSERT_EQ(left.value(stream, last_kv, position, 99),
                    right.value(other_stream, last_kv, position, 99))
              << pair.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::block_attention
