#include "kernels/tree_attention/problem.h"

#include "kernels/inputs.h"
#include "tests/kernels/tree_attention/made_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

using Settings = std::vector<Setting>;

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const Settings kSmall = {{"heads", "4"},
                         {"kv_heads", "2"},
                         {"streams", "3"},
                         {"rows", "7"},
                         {"committed", "512"},
                         {"lengths", "edges"},
                         {"tree", "binary"}};

bool is_nan(std::uint16_t bits) {
  return (bits & 0x7fffU) > 0x7f80U;
}

// The key or value of each position that a row sees, found through the call's own tables.
std::vector<std::uint16_t> seen_by(const Problem& problem, std::size_t row, bool is_key) {
  const Shape& shape = shape_of(problem);
  const auto streams = input_of<std::int32_t>(problem, kStreamTable);
  const auto table = input_of<std::int64_t>(problem, kCacheTable);
  const auto cache = input_of<std::uint16_t>(problem, is_key ? kKCache : kVCache);
  const auto rows = input_of<std::uint16_t>(problem, is_key ? kKRows : kVRows);
  const auto paths = input_of<std::int32_t>(problem, kPaths);
  const auto depths = input_of<std::int32_t>(problem, kDepths);
  const auto stream = static_cast<std::size_t>(input_of<std::int32_t>(problem, kRowStream)[row]);
  const auto per_key = static_cast<std::ptrdiff_t>(shape.num_kv_heads) * shape.dim;
  const auto offset = static_cast<std::ptrdiff_t>(table[stream * 2 + (is_key ? 0 : 1)]);
  const auto begin = cache.begin() + offset;
  std::vector<std::uint16_t> seen(begin, begin + streams[stream * 3 + 2] * per_key);
  for (std::int32_t place = 0; place < depths[row]; ++place) {
    const auto key =
        rows.begin() + paths[row * kMostDepth + static_cast<std::size_t>(place)] * per_key;
    seen.insert(seen.end(), key, key + per_key);
  }
  return seen;
}

std::vector<std::uint16_t> query_of(const Problem& problem, std::size_t row) {
  const auto q = input_of<std::uint16_t>(problem, kQ);
  const auto per_row =
      static_cast<std::ptrdiff_t>(shape_of(problem).num_heads) * shape_of(problem).dim;
  const auto begin = q.begin() + static_cast<std::ptrdiff_t>(row) * per_row;
  return {begin, begin + per_row};
}

// Every row that both make sees the same bytes in the same order.
std::size_t expect_same_bytes(const Settings& left_axes, const Settings& right_axes) {
  const auto left = problem_with(left_axes);
  const auto right = problem_with(right_axes);
  const auto left_ids = static_cast<const ViewProblem&>(*left).row_ids();
  const auto right_ids = static_cast<const ViewProblem&>(*right).row_ids();
  std::size_t num_shared = 0;
  for (std::size_t row = 0; row < right_ids.size(); ++row) {
    const auto found = std::ranges::find(left_ids, right_ids[row]);
    if (found == left_ids.end()) {
      continue;
    }
    ++num_shared;
    const auto place = static_cast<std::size_t>(found - left_ids.begin());
    EXPECT_EQ(query_of(*left, place), query_of(*right, row)) << row;
    for (const bool is_key : {true, false}) {
      const auto expected = seen_by(*left, place, is_key);
      EXPECT_EQ(expected, seen_by(*right, row, is_key)) << row;
      EXPECT_TRUE(std::ranges::none_of(expected, is_nan));
    }
  }
  return num_shared;
}

TEST(Problem, RefusesWhatTheAxesForbid) {
  EXPECT_FALSE(validate({.axes = {{"heads", "5"}}, .seed = 0}).ok());
}

TEST(Problem, KeepsEveryRowsBytesInEveryView) {
  for (const std::string data : {"normal", "one_hot_v", "planted"}) {
    const Settings whole = with(kSmall, {{"data", data}});
    const auto view = [&](const std::string& name, const std::string& pick) {
      return expect_same_bytes(whole, with(whole, {{"view", name}, {"pick", pick}}));
    };
    EXPECT_EQ(view("alone", "1"), 7U);
    EXPECT_EQ(view("reversed", "0"), 21U);
    EXPECT_EQ(view("rotated", "2"), 21U);
    EXPECT_EQ(view("path", "13"), 3U);
    EXPECT_EQ(view("node", "12"), 1U);
    EXPECT_EQ(view("subtree", "8"), 3U);
    EXPECT_EQ(view("serial", "0"), 21U);
  }
}

TEST(Problem, KeepsEveryRowsBytesWhereverTheyLie) {
  for (const Settings& change : {Settings{{"slack", "0"}},
                                 Settings{{"slack", "700"}, {"unread", "inf"}},
                                 Settings{{"base_offset", "24"}, {"unread", "random"}},
                                 Settings{{"plan", "9000"}}}) {
    EXPECT_EQ(expect_same_bytes(kSmall, with(kSmall, change)), 21U);
  }
}

TEST(Problem, KeepsAVictimsBytesBesideOtherNeighbours) {
  const Settings victim = {{"heads", "2"},
                           {"kv_heads", "1"},
                           {"rows", "5"},
                           {"committed", "40"},
                           {"lengths", "neighbours"},
                           {"tree", "random"}};
  EXPECT_EQ(expect_same_bytes(with(victim, {{"streams", "1"}}),
                              with(victim, {{"streams", "2"}, {"pick", "2"}})),
            5U);
}

TEST(Problem, PoisonsEveryCacheEntryThatIsNotAKey) {
  const Settings axes = with(kSmall, {{"slack", "3"}, {"base_offset", "16"}});
  const auto problem = problem_with(axes);
  for (const Tensor tensor : {kKCache, kVCache}) {
    const auto cache = input_of<std::uint16_t>(*problem, tensor);
    // 504, 511 and 512 keys, 3 entries each behind them, 2 heads.
    EXPECT_EQ(cache.size(), 16U + (504 + 511 + 512 + 9) * 256);
    EXPECT_EQ(std::ranges::count_if(cache, is_nan), 16 + 9 * 256);
  }
  const auto infinite =
      input_of<std::uint16_t>(*problem_with(with(axes, {{"unread", "inf"}})), kKCache);
  EXPECT_EQ(std::ranges::count_if(infinite, [](int bits) { return (bits & 0x7fff) == 0x7f80; }),
            16 + 9 * 256);
}

TEST(Problem, PlacesValuesElsewhereThanKeys) {
  const auto table = input_of<std::int64_t>(*problem_with(kSmall), kCacheTable);
  EXPECT_NE(table[0], table[1]);
  EXPECT_NE(table[4], table[5]);
  for (const std::int64_t offset : table) {
    EXPECT_EQ(offset % 8, 0);
  }
}

TEST(Problem, SharesCachesBetweenCallsThatReadTheSame) {
  const auto keys_of = [](const Settings& axes) {
    const auto problem = problem_with(axes);
    return std::vector<std::string>{problem->tensors()[kKCache].content_key,
                                    problem->tensors()[kVCache].content_key};
  };
  const std::vector<std::string> keys = keys_of(kSmall);
  EXPECT_NE(keys[0], keys[1]);
  EXPECT_EQ(keys, keys_of(with(kSmall, {{"plan", "5000"}})));
  const Settings other_tree = {{"heads", "8"},
                               {"kv_heads", "2"},
                               {"streams", "3"},
                               {"rows", "2"},
                               {"committed", "512"},
                               {"lengths", "edges"},
                               {"tree", "chain"}};
  EXPECT_EQ(keys, keys_of(other_tree));
  const auto a = input_of<std::uint16_t>(*problem_with(kSmall), kVCache);
  EXPECT_EQ(a, input_of<std::uint16_t>(*problem_with(other_tree), kVCache));
  for (const Setting& change : {Setting{"slack", "17"},
                                {"unread", "inf"},
                                {"data", "planted"},
                                {"base_offset", "8"},
                                {"dim", "256"},
                                {"view", "reversed"}}) {
    EXPECT_NE(keys[0], keys_of(with(kSmall, {change}))[0]) << change.first;
  }
}

TEST(Problem, KeepsItsInputBytes) {
  std::uint64_t digest = 0;
  for (const std::string data : {"normal",
                                 "zero_qk",
                                 "one_hot_v",
                                 "planted",
                                 "large_logits",
                                 "constant_logits",
                                 "cancelling",
                                 "tiny"}) {
    const auto problem = problem_with(with(kSmall, {{"data", data}, {"unread", "random"}}), 7);
    for (std::size_t tensor = 0; tensor < kOut; ++tensor) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(num_bytes(problem->tensors()[tensor])));
      problem->fill_input(tensor, bytes.data());
      for (const std::byte byte : bytes) {
        digest = mix_bits(digest ^ static_cast<std::uint64_t>(byte));
      }
    }
  }
  EXPECT_EQ(digest, 16417620538913760329U);
}

TEST(Problem, CutsRowsAndHeadsIntoTilesOfSixteenPairs) {
  const auto problem = problem_with({{"streams", "2"}, {"rows", "3"}, {"committed", "9"}});
  const std::vector<std::int32_t> expected = {0, 0, 0, 16, 0, 32, 1, 0, 1, 16, 1, 32};
  EXPECT_EQ(input_of<std::int32_t>(*problem, kTiles), expected);
  EXPECT_EQ(shape_of(*problem).num_tiles, 6);
}

TEST(Problem, TellsStreamsAndTheirRows) {
  const auto problem = problem_with({{"streams", "4"},
                                     {"rows", "2"},
                                     {"committed", "5"},
                                     {"lengths", "neighbours"},
                                     {"pick", "4"}});
  const std::vector<std::int32_t> expected = {0, 2, 5, 2, 33, 513, 35, 0, 700, 35, 63, 100};
  EXPECT_EQ(input_of<std::int32_t>(*problem, kStreamTable), expected);
  EXPECT_EQ(shape_of(*problem).most_committed, 700);
  // Of rows only: the stream with 700 keys has none.
  EXPECT_EQ(shape_of(*problem).num_groups, 2);
}

TEST(Problem, IsLiveInTheGroupsThatARowSees) {
  // Streams of 504, 511 and 512 keys with a chain of two rows: 505, 506, 512, 513, 513, 514 keys.
  const auto problem = problem_with({{"heads", "2"},
                                     {"kv_heads", "1"},
                                     {"streams", "3"},
                                     {"rows", "2"},
                                     {"committed", "512"},
                                     {"lengths", "edges"},
                                     {"plan", "2000"}});
  ASSERT_EQ(shape_of(*problem).num_groups, 4);
  const std::vector<ElementRange> m = problem->live(kPartialM);
  ASSERT_EQ(m.size(), 2U);
  EXPECT_EQ(m[0].begin, 0);
  EXPECT_EQ(m[0].end, 12);
  EXPECT_EQ(m[1].begin, 12 + 3 * 2);
  EXPECT_EQ(m[1].end, 12 + 6 * 2);
  const std::vector<ElementRange> o = problem->live(kPartialO);
  ASSERT_EQ(o.size(), 2U);
  EXPECT_EQ(o[1].begin, m[1].begin * 128);
  EXPECT_EQ(problem->live(kOut).front().end, 6 * 2 * 128);
}

TEST(Problem, CountsTheBytesOfKeysOncePerStream) {
  const auto bytes = [](const Settings& axes) { return problem_with(axes)->min_bytes(); };
  EXPECT_EQ(bytes({{"rows", "1"}, {"committed", "512"}}), 513 * 2'048 + 2 * 48 * 128 * 2);
  EXPECT_EQ(bytes({{"heads", "24"}, {"dim", "256"}, {"rows", "8"}, {"committed", "16384"}}),
            (16'384 + 8) * 4'096 + 2 * 8 * 24 * 256 * 2);
  EXPECT_EQ(bytes({{"rows", "0"}}), 0);
  EXPECT_EQ(bytes({{"streams", "0"}}), 0);
}

TEST(Problem, CountsTheOperationsOfVisibleKeys) {
  const auto flops = [](const Settings& axes) { return problem_with(axes)->min_flops(); };
  constexpr std::int64_t kPerPair = 4 * 128 * 48;
  EXPECT_EQ(flops({{"rows", "1"}, {"committed", "512"}}), 513 * kPerPair);
  // Row r of a chain sees r + 1 rows of its path.
  EXPECT_EQ(flops({{"rows", "3"}, {"tree", "chain"}, {"committed", "10"}, {"streams", "2"}}),
            2 * (11 + 12 + 13) * kPerPair);
  EXPECT_EQ(flops({{"heads", "24"}, {"dim", "256"}, {"rows", "1"}, {"committed", "0"}}),
            4 * 256 * 24);
  EXPECT_EQ(flops({{"rows", "0"}}), 0);
}

TEST(Problem, SizesThePartialsOfTheLongestContextWithoutOverflow) {
  const auto problem = problem_with({{"rows", "64"}, {"tree", "levels"}, {"committed", "4194304"}});
  EXPECT_EQ(shape_of(*problem).num_groups, 8'193);
  EXPECT_EQ(num_elements(problem->tensors()[kPartialO]), std::int64_t{8'193} * 64 * 48 * 128);
  EXPECT_EQ(problem->live(kPartialO).back().end, std::int64_t{8'193} * 64 * 48 * 128);
  EXPECT_EQ(problem->tensors()[kKCache].shape[0], (std::int64_t{4'194'304} + 16) * 4 * 128);
}

TEST(MatchedRows, FindsTheRowsOfBothCalls) {
  const Settings axes = {
      {"heads", "2"}, {"kv_heads", "1"}, {"streams", "2"}, {"rows", "3"}, {"committed", "511"}};
  const auto whole = problem_with(axes);
  const auto alone = problem_with(with(axes, {{"view", "alone"}, {"pick", "1"}}));
  const std::vector<RangePair> out = matched_rows(*whole, *alone, kOut);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].left.begin, 3 * 256);
  EXPECT_EQ(out[0].left.end, 6 * 256);
  EXPECT_EQ(out[0].right_begin, 0);
  // The first row sees 512 keys, the others a second group too.
  const std::vector<RangePair> m = matched_rows(*whole, *alone, kPartialM);
  ASSERT_EQ(m.size(), 2U);
  EXPECT_EQ(m[0].left.begin, 6);
  EXPECT_EQ(m[0].left.end, 12);
  EXPECT_EQ(m[0].right_begin, 0);
  EXPECT_EQ(m[1].left.begin, 12 + 8);
  EXPECT_EQ(m[1].left.end, 12 + 12);
  EXPECT_EQ(m[1].right_begin, 6 + 2);
}

TEST(MatchedRows, FollowsRowsToOtherPlaces) {
  const Settings axes = {
      {"heads", "2"}, {"kv_heads", "1"}, {"streams", "2"}, {"rows", "2"}, {"committed", "9"}};
  const auto whole = problem_with(axes);
  const auto reversed = problem_with(with(axes, {{"view", "reversed"}}));
  const std::vector<RangePair> out = matched_rows(*whole, *reversed, kResult);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].left.begin, 0);
  EXPECT_EQ(out[0].right_begin, 2 * 256);
  EXPECT_EQ(out[1].left.begin, 2 * 256);
  EXPECT_EQ(out[1].right_begin, 0);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
