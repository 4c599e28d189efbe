#include "kernels/tree_attention/plan.h"

#include "kernels/tree_attention/trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

using Rows = std::vector<std::int32_t>;

std::string message_of(const std::vector<Setting>& axes) {
  const absl::Status status = parse_plan({.axes = axes, .seed = 0}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

Plan plan_of(const std::vector<Setting>& axes) {
  return parse_plan({.axes = axes, .seed = 5}).value();
}

TEST(Plan, RefusesADimByItsName) {
  EXPECT_EQ(message_of({{"dim", "64"}}), "dim: `64` is not one of 128, 256");
}

TEST(Plan, RefusesAnUnknownAxis) {
  EXPECT_EQ(parse_plan({.axes = {{"depth", "3"}}, .seed = 0}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(Plan, RefusesHeadsByTheirRules) {
  EXPECT_EQ(message_of({{"heads", "10"}}), "heads: 10 is not a multiple of kv_heads 4");
  EXPECT_EQ(message_of({{"heads", "68"}}),
            "heads: 17 query heads for each of 4 kv_heads, at most 16 are allowed");
}

TEST(Plan, RefusesAMisalignedBase) {
  EXPECT_EQ(message_of({{"base_offset", "4"}}),
            "base_offset: 4 is not a multiple of 8 elements (16 bytes)");
}

TEST(Plan, RefusesATreeDeeperThan128) {
  EXPECT_EQ(message_of({{"rows", "129"}}),
            "rows: row 128 of stream 0 is 129 deep, at most 128 are allowed");
  EXPECT_TRUE(parse_plan({.axes = {{"rows", "128"}}, .seed = 0}).ok());
  EXPECT_TRUE(parse_plan({.axes = {{"rows", "384"}, {"tree", "forest"}}, .seed = 0}).ok());
}

TEST(Plan, RefusesMoreRowsThanACallTakes) {
  EXPECT_EQ(message_of({{"streams", "200"}, {"rows", "100"}}),
            "rows: 20000 rows of all streams, at most 16384 are allowed");
}

TEST(Plan, RefusesAPickThatIsNotThere) {
  EXPECT_EQ(message_of({{"view", "alone"}, {"streams", "2"}, {"pick", "2"}}),
            "pick: 2 is not a stream of the call's 2 streams");
  EXPECT_EQ(message_of({{"view", "node"}, {"streams", "2"}, {"rows", "3"}, {"pick", "6"}}),
            "pick: 6 is not a row of the call's 6 rows");
  EXPECT_EQ(message_of({{"view", "rotated"}, {"streams", "0"}}),
            "pick: 0 is not a stream of the call's 0 streams");
}

TEST(Plan, TakesNothingAtAll) {
  EXPECT_TRUE(plan_of({{"streams", "0"}}).streams.empty());
  EXPECT_TRUE(plan_of({{"rows", "0"}}).streams.at(0).rows.empty());
  EXPECT_EQ(plan_of({{"committed", "0"}}).whole.at(0).committed, 0);
}

std::vector<Rows> trees_of(TreeKind tree, std::int32_t rows) {
  std::vector<Rows> made;
  for (const Stream& stream :
       make_streams({.num_streams = 2, .rows = rows, .committed = 0, .pick = 0, .tree = tree}, 1)) {
    made.push_back(stream.parents);
  }
  return made;
}

TEST(Trees, HaveTheirShapes) {
  EXPECT_EQ(trees_of(TreeKind::kChain, 4)[0], (Rows{-1, 0, 1, 2}));
  EXPECT_EQ(trees_of(TreeKind::kStar, 4)[0], (Rows{-1, 0, 0, 0}));
  EXPECT_EQ(trees_of(TreeKind::kBinary, 6)[0], (Rows{-1, 0, 0, 1, 1, 2}));
  EXPECT_EQ(trees_of(TreeKind::kForest, 7)[0], (Rows{-1, -1, -1, 0, 1, 2, 3}));
  EXPECT_EQ(trees_of(TreeKind::kRoots, 3)[0], (Rows{-1, -1, -1}));
}

TEST(Trees, DrawsParentsBeforeTheirChildrenAndDiffersFromStreamToStream) {
  const std::vector<Rows> random = trees_of(TreeKind::kRandom, 50);
  EXPECT_NE(random[0], random[1]);
  for (std::int32_t row = 0; row < 50; ++row) {
    EXPECT_LT(random[0][static_cast<std::size_t>(row)], row);
  }
  const Rows levels = trees_of(TreeKind::kLevels, 31)[0];
  EXPECT_EQ(std::ranges::count(levels, 0), 10);
  for (std::int32_t row = 11; row < 31; ++row) {
    const std::int32_t parent = levels[static_cast<std::size_t>(row)];
    EXPECT_EQ((parent - 1) / 10, (row - 1) / 10 - 1) << row;
  }
}

std::vector<std::int32_t> committed_of(LengthKind lengths, std::int32_t committed) {
  std::vector<std::int32_t> made;
  for (const Stream& stream : make_streams({.num_streams = 5,
                              .rows = 2,
                              .committed = committed,
                              .pick = 0,
                              .lengths = lengths,
                              .tree = TreeKind::kChain},
                                           1)) {
    made.push_back(stream.committed);
  }
  return made;
}

TEST(Lengths, FollowTheirRules) {
  EXPECT_EQ(committed_of(LengthKind::kLadder, 131'072), (Rows{512, 4'096, 32'768, 131'072, 512}));
  EXPECT_EQ(committed_of(LengthKind::kAlternating, 9), (Rows{9, 0, 9, 0, 9}));
  EXPECT_EQ(committed_of(LengthKind::kEdges, 512), (Rows{504, 511, 512, 513, 1'023}));
  EXPECT_EQ(committed_of(LengthKind::kEdges, 0), (Rows{0, 0, 0, 1, 511}));
  EXPECT_EQ(committed_of(LengthKind::kMixed, 200), (Rows{0, 1, 100, 200, 200}));
  EXPECT_EQ(committed_of(LengthKind::kNeighbours, 77), (Rows{77, 0, 1, 511, 512}));
}

TEST(Plan, KeepsAStreamWhateverStandsBesideIt) {
  const Plan one = plan_of({{"streams", "1"}, {"tree", "random"}, {"lengths", "neighbours"}});
  const Plan more =
      plan_of({{"streams", "3"}, {"tree", "random"}, {"lengths", "neighbours"}, {"pick", "2"}});
  EXPECT_EQ(one.whole[0].parents, more.whole[0].parents);
  EXPECT_EQ(one.whole[0].committed, more.whole[0].committed);
  EXPECT_EQ(more.whole[1].parents.size(), 31U);
}

TEST(Plan, PutsStreamsInTheOrderOfTheView) {
  const auto order_of = [](const std::string& view, const std::string& pick) {
    Rows streams;
    for (const StreamView& stream :
         plan_of({{"streams", "4"}, {"view", view}, {"pick", pick}}).streams) {
      streams.push_back(stream.stream);
    }
    return streams;
  };
  EXPECT_EQ(order_of("whole", "0"), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(order_of("reversed", "0"), (Rows{3, 2, 1, 0}));
  EXPECT_EQ(order_of("rotated", "3"), (Rows{3, 0, 1, 2}));
  EXPECT_EQ(order_of("alone", "2"), (Rows{2}));
}

// The binary tree 0; 1 2; 3 4 5 6 of the second of two streams.
StreamView row_view(const std::string& view, const std::string& pick) {
  return plan_of({{"streams", "2"},
                  {"rows", "7"},
                  {"committed", "10"},
                  {"tree", "binary"},
                  {"view", view},
                  {"pick", pick}})
      .streams.at(0);
}

TEST(Plan, CutsAPathOutOfATree) {
  const StreamView path = row_view("path", "11");
  EXPECT_EQ(path.stream, 1);
  EXPECT_TRUE(path.accepted.empty());
  EXPECT_EQ(path.rows, (Rows{0, 1, 4}));
  EXPECT_EQ(path.parents, (Rows{-1, 0, 1}));
}

TEST(Plan, CommitsTheAncestorsOfANode) {
  const StreamView node = row_view("node", "11");
  EXPECT_EQ(node.accepted, (Rows{0, 1}));
  EXPECT_EQ(node.rows, (Rows{4}));
  EXPECT_EQ(node.parents, (Rows{-1}));
  EXPECT_TRUE(row_view("node", "7").accepted.empty());
}

TEST(Plan, KeepsTheSubtreeOfANode) {
  const StreamView subtree = row_view("subtree", "8");
  EXPECT_EQ(subtree.accepted, (Rows{0}));
  EXPECT_EQ(subtree.rows, (Rows{1, 3, 4}));
  EXPECT_EQ(subtree.parents, (Rows{-1, 0, 0}));
}

TEST(Plan, MakesEveryRowAStreamOfItsOwn) {
  const Plan plan = plan_of({{"streams", "2"},
                             {"rows", "7"},
                             {"committed", "10"},
                             {"tree", "binary"},
                             {"view", "serial"}});
  ASSERT_EQ(plan.streams.size(), 14U);
  EXPECT_EQ(plan.streams[13].stream, 1);
  EXPECT_EQ(plan.streams[13].rows, (Rows{6}));
  EXPECT_EQ(plan.streams[13].accepted, (Rows{0, 2}));
  EXPECT_EQ(plan.committed_of(plan.streams[13]), 12);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
