#include "kernels/block_attention/plan.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::block_attention {
namespace {

std::string refusal(std::vector<Setting> axes) {
  const auto plan = parse_plan({.axes = std::move(axes), .seed = 0});
  EXPECT_TRUE(plan.ok() || absl::IsInvalidArgument(plan.status()));
  return std::string(plan.status().message());
}

BlockPlan plan_of(std::vector<Setting> axes) {
  return parse_plan({.axes = std::move(axes), .seed = 0}).value();
}

std::vector<std::int32_t> contexts(const BlockPlan& plan) {
  std::vector<std::int32_t> found;
  for (const Stream& stream : plan.streams) {
    found.push_back(stream.context);
  }
  return found;
}

TEST(Plan, NamesTheAxisThatItRefuses) {
  EXPECT_EQ(refusal({{"dim", "64"}}), "dim: `64` is not one of 128, 256");
  EXPECT_EQ(refusal({{"width", "17"}}), "width: `17` is not an integer in [2, 16]");
  EXPECT_EQ(refusal({{"heads", "30"}}), "heads: 30 is not a multiple of kv_heads 8");
  EXPECT_EQ(refusal({{"heads", "34"}, {"kv_heads", "2"}}),
            "heads: 17 query heads of a key head, at most 16 are allowed");
  EXPECT_EQ(refusal({{"base_offset", "4"}}), "base_offset: 4 is not a multiple of 8");
  EXPECT_EQ(refusal({{"window", "-2"}}), "window: `-2` is not an integer in [-1, 2147483647]");
}

TEST(Plan, NamesTheAxisOfWhatIsTooLarge) {
  EXPECT_EQ(
      refusal({{"streams", "64"}, {"context", "4194304"}}),
      "context: the streams' keys take 274877906944 elements, at most 8589934592 are allowed");
  EXPECT_EQ(refusal({{"streams", "1024"}, {"context", "8184"}, {"width", "16"}}),
            "streams: partials of streams * width rows and 17 groups take 1140850688 elements, at "
            "most 1073741824 are allowed");
}

TEST(Plan, CountsFourMillionKeysWithoutOverflow) {
  const BlockPlan plan = plan_of({{"context", "4194304"}, {"slack", "1048576"}, {"kv_heads", "4"}});
  EXPECT_EQ(plan.num_context_elements, 5'242'880LL * 4 * 128);
  EXPECT_EQ(plan.shape.num_groups, 8'193);
}

TEST(Plan, TakesNoStreamsAndNoContext) {
  const BlockPlan none = plan_of({{"streams", "0"}});
  EXPECT_EQ(none.shape.num_groups, 0);
  EXPECT_EQ(none.num_context_elements, 0);
  const BlockPlan empty = plan_of({{"context", "0"}});
  EXPECT_EQ(empty.shape.num_groups, 1);
  EXPECT_EQ(empty.num_context_elements, 0);
}

TEST(Plan, DealsLengthsByTheNumberOfTheStream) {
  EXPECT_EQ(contexts(plan_of({{"streams", "5"}, {"lengths", "edges"}, {"context", "2048"}})),
            (std::vector<std::int32_t>{0, 7, 2'047, 2'048, 0}));
  EXPECT_EQ(contexts(plan_of({{"streams", "5"}, {"lengths", "ramp"}, {"context", "3"}})),
            (std::vector<std::int32_t>{0, 1, 2, 3, 0}));
  EXPECT_EQ(contexts(plan_of({{"streams", "3"}, {"lengths", "alternating"}, {"context", "5"}})),
            (std::vector<std::int32_t>{5, 0, 5}));
  EXPECT_EQ(contexts(plan_of({{"streams", "9"}, {"lengths", "mixed"}})),
            (std::vector<std::int32_t>{0, 1, 100, 511, 512, 513, 1'300, 2'600, 0}));
  EXPECT_EQ(contexts(plan_of({{"streams", "2"}, {"lengths", "edges"}, {"context", "0"}})),
            (std::vector<std::int32_t>{0, 0}));
  const BlockPlan later = plan_of({{"streams", "2"},
                                   {"lengths", "edges"},
                                   {"context", "2048"},
                                   {"first_stream", "2"},
                                   {"order", "descending"}});
  EXPECT_EQ(contexts(later), (std::vector<std::int32_t>{2'048, 2'047}));
  EXPECT_EQ(later.streams[0].number, 3);
}

TEST(Plan, LaysStreamsOutWithoutOverlapAndValuesInTheOppositeOrder) {
  const BlockPlan plan = plan_of({{"streams", "2"},
                                  {"lengths", "alternating"},
                                  {"context", "10"},
                                  {"slack", "3"},
                                  {"kv_heads", "4"},
                                  {"base_offset", "24"}});
  ASSERT_EQ(plan.streams.size(), 2U);
  EXPECT_EQ(plan.streams[0].head_stride, 13 * 128);
  EXPECT_EQ(plan.streams[1].head_stride, 3 * 128);
  EXPECT_EQ(plan.streams[0].k_offset, 24);
  EXPECT_EQ(plan.streams[1].k_offset, 24 + 4 * 13 * 128);
  EXPECT_EQ(plan.streams[1].v_offset, 24);
  EXPECT_EQ(plan.streams[0].v_offset, 24 + 4 * 3 * 128);
  EXPECT_EQ(plan.num_context_elements, 24 + 4 * 16 * 128);
}

TEST(Plan, TakesAWindowOfNoLimit) {
  EXPECT_EQ(plan_of({{"window", "-1"}}).shape.window, INT32_MAX);
  EXPECT_EQ(plan_of({{"window", "0"}}).shape.window, 0);
}

}  // namespace
}  // namespace assay::kernels::block_attention
