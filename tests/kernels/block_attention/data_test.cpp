#include "kernels/block_attention/data.h"

#include "kernels/inputs.h"
#include "tests/kernels/block_attention/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace assay::kernels::block_attention {
namespace {

constexpr std::array<std::string_view, 8> kKinds = {"normal",
                                                    "zero_qk",
                                                    "one_hot_v",
                                                    "planted",
                                                    "large_logits",
                                                    "constant_logits",
                                                    "cancelling",
                                                    "tiny"};

BlockPlan plan_of(std::vector<Setting> axes, std::uint64_t seed = 0) {
  return parse_plan({.axes = std::move(axes), .seed = seed}).value();
}

using Row = std::array<std::uint16_t, 128>;

Row row_of(const BlockPlan& plan,
           Part part,
           std::int64_t position,
           std::int32_t head = 0,
           std::size_t stream = 0) {
  Row row = {};
  fill_row(plan, part, plan.streams[stream], head, position, row);
  return row;
}

double score(const BlockPlan& plan, std::int64_t query, std::int64_t key) {
  const Row q = row_of(plan, Part::kQuery, query);
  const Row k = row_of(plan, Part::kKey, key);
  double dot = 0;
  for (std::size_t d = 0; d < q.size(); ++d) {
    dot += double{attention::from_bf16(q[d])} * double{attention::from_bf16(k[d])};
  }
  return dot * plan.shape.scale;
}

TEST(Data, KeepsItsBytes) {
  std::uint64_t digest = 0;
  for (const std::string_view kind : kKinds) {
    for (const std::string_view unread : {"nan", "inf", "random"}) {
      const Inputs inputs = make_inputs(workload_of({{"data", std::string(kind)},
                                                     {"unread", std::string(unread)},
                                                     {"streams", "3"},
                                                     {"lengths", "mixed"},
                                                     {"first_stream", "1"},
                                                     {"window", "40"},
                                                     {"slack", "5"},
                                                     {"base_offset", "8"},
                                                     {"heads", "4"},
                                                     {"kv_heads", "2"}},
                                                    7));
      for (const std::vector<std::byte>& bytes : inputs.bytes) {
        for (const std::byte byte : bytes) {
          digest = mix_bits(digest ^ static_cast<std::uint64_t>(byte));
        }
      }
    }
  }
  EXPECT_EQ(digest, 4345170725472842300U);
}

TEST(Data, DependsOnSeedStreamHeadPositionAndPart) {
  const BlockPlan plan = plan_of({{"streams", "2"}});
  const Row row = row_of(plan, Part::kKey, 5);
  EXPECT_EQ(row, row_of(plan, Part::kKey, 5));
  EXPECT_NE(row, row_of(plan, Part::kKey, 6));
  EXPECT_NE(row, row_of(plan, Part::kValue, 5));
  EXPECT_NE(row, row_of(plan, Part::kQuery, 5));
  EXPECT_NE(row, row_of(plan, Part::kKey, 5, 1));
  EXPECT_NE(row, row_of(plan, Part::kKey, 5, 0, 1));
  EXPECT_NE(row, row_of(plan_of({{"streams", "2"}}, 1), Part::kKey, 5));
}

TEST(Data, IsNearTheStandardNormal) {
  const BlockPlan plan = plan_of({});
  double sum = 0;
  double squares = 0;
  constexpr int kRows = 500;
  for (int position = 0; position < kRows; ++position) {
    for (const std::uint16_t bits : row_of(plan, Part::kValue, position)) {
      const double value = attention::from_bf16(bits);
      sum += value;
      squares += value * value;
    }
  }
  EXPECT_NEAR(sum / (kRows * 128), 0, 0.02);
  EXPECT_NEAR(squares / (kRows * 128), 1, 0.02);
}

TEST(Data, PlantsKeysAtTheEdgeOfEachRowsWindow) {
  const BlockPlan plan =
      plan_of({{"data", "planted"}, {"context", "300"}, {"window", "100"}, {"width", "16"}});
  for (std::int64_t row = 0; row < 16; ++row) {
    const std::int64_t oldest = 300 + row - 100;
    EXPECT_GT(score(plan, 300 + row, oldest), 8) << row;
    EXPECT_GT(score(plan, 300 + row, oldest - 1), 8) << row;
    EXPECT_LT(score(plan, 300 + row, oldest - 2), 5) << row;
    EXPECT_LT(score(plan, 300 + row, oldest + 1), 5) << row;
  }
}

TEST(Data, PlantsKeysAtTheCausalEdgeAndAtTheEdgesOfSlices) {
  const BlockPlan plan =
      plan_of({{"data", "planted"}, {"context", "600"}, {"window", "-1"}, {"width", "16"}});
  for (std::int64_t row = 0; row < 15; ++row) {
    EXPECT_GT(score(plan, 600 + row, 600 + row), 8) << row;
    EXPECT_GT(score(plan, 600 + row, 601 + row), 8) << row;
    for (const std::int64_t position : {127, 128, 383, 384, 511, 512, 599}) {
      EXPECT_GT(score(plan, 600 + row, position), 8) << position;
    }
    EXPECT_LT(score(plan, 600 + row, 300), 5);
  }
}

TEST(Data, ScoresReachTheirSizes) {
  const BlockPlan large = plan_of({{"data", "large_logits"}});
  double least = 0;
  double most = 0;
  for (std::int64_t key = 0; key < 100; ++key) {
    least = std::min(least, score(large, 4'096, key));
    most = std::max(most, score(large, 4'096, key));
  }
  EXPECT_LT(least, -1e5);
  EXPECT_GT(most, 1e5);
  for (const std::string dim : {"128", "256"}) {
    const BlockPlan constant = plan_of({{"data", "constant_logits"}, {"dim", dim}});
    std::array<std::uint16_t, 256> q = {};
    fill_row(constant,
             Part::kQuery,
             constant.streams[0],
             0,
             4'096,
             std::span(q).first(static_cast<std::size_t>(constant.shape.dim)));
    EXPECT_NEAR(attention::from_bf16(q[0]) * constant.shape.scale, -6.7e4, 100);
  }
}

TEST(Data, ValuesAreOfTheirKind) {
  const Row one_hot = row_of(plan_of({{"data", "one_hot_v"}}), Part::kValue, 130);
  EXPECT_EQ(std::ranges::count(one_hot, 0), 127);
  EXPECT_EQ(attention::from_bf16(one_hot[2]), 1.0F);
  const Row tiny = row_of(plan_of({{"data", "tiny"}}), Part::kValue, 7);
  EXPECT_EQ(tiny[7] & 0x7fffU, 0U);
  const auto num_subnormal = std::ranges::count_if(
      tiny, [](std::uint16_t bits) { return (bits & 0x7fffU) != 0 && (bits & 0x7f80U) == 0; });
  EXPECT_EQ(num_subnormal, 32);
  EXPECT_TRUE(std::ranges::all_of(
      tiny, [](std::uint16_t bits) { return std::fabs(attention::from_bf16(bits)) < 0x1p-122F; }));
  const BlockPlan cancelling = plan_of({{"data", "cancelling"}});
  EXPECT_GT(attention::from_bf16(row_of(cancelling, Part::kValue, 2)[0]), 59.0F);
  EXPECT_LT(attention::from_bf16(row_of(cancelling, Part::kValue, 3)[0]), -59.0F);
  const Row zero = row_of(plan_of({{"data", "zero_qk"}}), Part::kQuery, 9);
  EXPECT_EQ(std::ranges::count(zero, 0), 128);
}

TEST(Data, EveryValueThatIsReadIsFinite) {
  for (const std::string_view kind : kKinds) {
    const BlockPlan plan = plan_of({{"data", std::string(kind)}});
    for (const Part part : {Part::kQuery, Part::kKey, Part::kValue}) {
      for (std::int64_t position = 0; position < 50; ++position) {
        for (const std::uint16_t bits : row_of(plan, part, position)) {
          ASSERT_NE(bits & 0x7f80U, 0x7f80U) << kind;
        }
      }
    }
  }
}

TEST(Data, UnreadIsNotANumberInfiniteOrAnythingFinite) {
  const auto filled = [](std::string_view kind) {
    std::array<std::uint16_t, 2'000> elements = {};
    fill_unread(plan_of({{"unread", std::string(kind)}}), 1, elements);
    return elements;
  };
  for (const std::uint16_t bits : filled("nan")) {
    ASSERT_TRUE(std::isnan(attention::from_bf16(bits)));
  }
  for (const std::uint16_t bits : filled("inf")) {
    ASSERT_TRUE(std::isinf(attention::from_bf16(bits)));
  }
  float largest = 0;
  for (const std::uint16_t bits : filled("random")) {
    ASSERT_TRUE(std::isfinite(attention::from_bf16(bits)));
    largest = std::max(largest, attention::from_bf16(bits));
  }
  EXPECT_GT(largest, 1e30F);
}

}  // namespace
}  // namespace assay::kernels::block_attention
