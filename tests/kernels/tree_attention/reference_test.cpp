#include "kernels/tree_attention/reference.h"

#include "tests/kernels/tree_attention/made_inputs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

double value_of(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// The call's tables as a kernel reads them.
struct CallTables {
  explicit CallTables(const Problem& problem)
      : q(input_of<std::uint16_t>(problem, kQ)),
        k_rows(input_of<std::uint16_t>(problem, kKRows)),
        v_rows(input_of<std::uint16_t>(problem, kVRows)),
        k_cache(input_of<std::uint16_t>(problem, kKCache)),
        v_cache(input_of<std::uint16_t>(problem, kVCache)),
        cache(input_of<std::int64_t>(problem, kCacheTable)),
        streams(input_of<std::int32_t>(problem, kStreamTable)),
        row_stream(input_of<std::int32_t>(problem, kRowStream)),
        paths(input_of<std::int32_t>(problem, kPaths)),
        depths(input_of<std::int32_t>(problem, kDepths)) {}

  std::vector<std::uint16_t> q, k_rows, v_rows, k_cache, v_cache;
  std::vector<std::int64_t> cache;
  std::vector<std::int32_t> streams, row_stream, paths, depths;
};

struct Place {
  std::size_t row;
  std::size_t head;
  std::size_t dim;
};

struct Answer {
  double value = 0;
  double magnitude = 0;  // of the values, with the same weights
  std::size_t num_keys = 0;
};

// Without a maximum taken off: scores are small here.
Answer brute_force(const CallTables& call, const Shape& shape, const Place& place) {
  const auto heads = static_cast<std::size_t>(shape.num_heads);
  const auto kv_heads = static_cast<std::size_t>(shape.num_kv_heads);
  const auto dims = static_cast<std::size_t>(shape.dim);
  const std::size_t kv_head = place.head / (heads / kv_heads);
  const auto stream = static_cast<std::size_t>(call.row_stream[place.row]);
  const auto committed = static_cast<std::size_t>(call.streams[stream * 3 + 2]);
  const auto depth = static_cast<std::size_t>(call.depths[place.row]);
  Answer answer = {.num_keys = committed + depth};
  double total = 0;
  for (std::size_t i = 0; i < answer.num_keys; ++i) {
    const auto cached = [&](std::size_t column) {
      return static_cast<std::size_t>(call.cache[stream * 2 + column]) +
             (i * kv_heads + kv_head) * dims;
    };
    const auto drafted = [&] {
      const std::int32_t row = call.paths[place.row * kMostDepth + i - committed];
      return (static_cast<std::size_t>(row) * kv_heads + kv_head) * dims;
    };
    const bool is_cached = i < committed;
    const std::uint16_t* k =
        is_cached ? call.k_cache.data() + cached(0) : call.k_rows.data() + drafted();
    const std::uint16_t* v =
        is_cached ? call.v_cache.data() + cached(1) : call.v_rows.data() + drafted();
    double score = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      score += value_of(call.q[(place.row * heads + place.head) * dims + d]) * value_of(k[d]);
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(dims)));
    total += weight;
    answer.value += weight * value_of(v[place.dim]);
    answer.magnitude += weight * std::fabs(value_of(v[place.dim]));
  }
  answer.value /= total;
  answer.magnitude /= total;
  return answer;
}

// 2^(floor(log2 |x|) - 8), found by halving.
double half_ulp_of(double x) {
  double power = 0x1p+127;
  while (power > std::fabs(x)) {
    power /= 2;
  }
  return power * 0x1p-8;
}

TEST(Reference, AgreesWithBruteForceOverTheCallsTables) {
  for (const std::string dim : {"128", "256"}) {
    const auto problem = problem_with({{"heads", "6"},
                                       {"kv_heads", "2"},
                                       {"dim", dim},
                                       {"streams", "3"},
                                       {"rows", "5"},
                                       {"committed", "37"},
                                       {"lengths", "mixed"},
                                       {"tree", "random"}});
    const Shape& shape = shape_of(*problem);
    const CallTables call(*problem);
    const Reference reference = problem->reference(kOut);
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape.num_rows); ++row) {
      for (std::size_t head = 0; head < 6; ++head) {
        for (std::size_t d = 3; d < static_cast<std::size_t>(shape.dim); d += 41) {
          const std::size_t index = (row * 6 + head) * static_cast<std::size_t>(shape.dim) + d;
          const Answer expected = brute_force(call, shape, {.row = row, .head = head, .dim = d});
          ASSERT_NEAR(reference.values[index], expected.value, 1e-12) << index;
          ASSERT_NEAR(reference.tolerances[index],
                      expected.magnitude / 128 + half_ulp_of(expected.value),
                      1e-12)
              << index;
          ASSERT_EQ(static_cast<std::size_t>(reference.num_terms[index]), expected.num_keys);
        }
      }
    }
  }
}

TEST(Reference, OfOneKeyIsItsValue) {
  const auto problem = problem_with({{"rows", "1"}, {"committed", "0"}});
  const auto v = input_of<std::uint16_t>(*problem, kVRows);
  const Reference reference = problem->reference(kOut);
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const std::size_t kv_head = i / 128 / 12;
    const double value = value_of(v[kv_head * 128 + i % 128]);
    ASSERT_EQ(reference.values[i], value);
    const double half = value == 0 ? 0x1p-134 : half_ulp_of(value);
    ASSERT_EQ(reference.tolerances[i], std::fabs(value) / 128 + half);
    ASSERT_EQ(reference.num_terms[i], 1);
  }
}

TEST(Reference, OfEqualScoresIsTheMeanOfTheVisibleValues) {
  const auto problem = problem_with({{"heads", "1"},
                                     {"kv_heads", "1"},
                                     {"rows", "3"},
                                     {"committed", "2"},
                                     {"tree", "star"},
                                     {"data", "zero_qk"}});
  const auto cache = input_of<std::uint16_t>(*problem, kVCache);
  const auto rows = input_of<std::uint16_t>(*problem, kVRows);
  const Reference reference = problem->reference(kOut);
  for (std::size_t d = 0; d < 128; ++d) {
    // Row 2 sees both committed keys, the root and itself, not its sibling.
    const double sum =
        value_of(cache[d]) + value_of(cache[128 + d]) + value_of(rows[d]) + value_of(rows[256 + d]);
    ASSERT_NEAR(reference.values[256 + d], sum / 4, 1e-15);
    ASSERT_EQ(reference.num_terms[256 + d], 4);
  }
}

TEST(Reference, TellsWhichKeysARowSaw) {
  const auto problem = problem_with({{"heads", "1"},
                                     {"kv_heads", "1"},
                                     {"rows", "4"},
                                     {"committed", "3"},
                                     {"tree", "star"},
                                     {"data", "one_hot_v"}});
  const Reference reference = problem->reference(kOut);
  // Keys 0 to 2, the root at 3, and row 2 itself at 5.
  for (std::size_t d = 0; d < 128; ++d) {
    EXPECT_EQ(reference.values[2 * 128 + d] > 0, d <= 3 || d == 5) << d;
  }
}

TEST(Reference, OfNoRowsIsEmpty) {
  EXPECT_TRUE(problem_with({{"streams", "0"}})->reference(kOut).values.empty());
}

}  // namespace
}  // namespace assay::kernels::tree_attention
