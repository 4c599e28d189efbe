// Every CUDA kernel of tree_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#include "kernels/attention/tensor_core.h"
#include "kernels/tree_attention/cuda_plan.cuh"
#include "tests/kernels/simt/tree_case.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::tree_attention {
namespace {

using attention::Grid;
using attention::PolynomialExp;

constexpr int kTestBatch = 4;  // partials that the merge loads at once

template <class Body>
std::string run_grid(const Grid& grid, simt::Step step, std::uint64_t seed, const Body& body) {
  return simt::run({.num_blocks = grid.num_blocks,
                    .num_threads = grid.num_threads,
                    .shared_bytes = grid.shared_bytes,
                    .step = step,
                    .seed = seed},
                   body);
}

template <Mutation kMutation, int kDim, int kBatch>
std::string run_staged_of(TreeCase& tree,
                          const StagedLaunch& launch,
                          simt::Step step,
                          std::uint64_t seed) {
  const Params params = tree.params();
  const std::string error = run_grid(launch.attend, step, seed, [&] {
    attend_staged_block<PolynomialExp, kDim, kMutation>(params, launch.grid);
  });
  return error + run_grid(launch.merge, step, seed, [&] {
           merge_block<kBatch, kDim, kMutation>(params, launch.merge_plan);
         });
}

// Empty, or what went wrong or differs.
template <Mutation kMutation = Mutation::kNone, int kBatch = kTestBatch>
std::string staged_difference(TreeCase& tree,
                              const StagedChoice& choice,
                              simt::Step step = attention::chain_step,
                              std::uint64_t seed = 1) {
  tree.poison();
  const StagedLaunch launch = plan_staged(tree.shape(), choice);
  const std::string error = tree.shape().dim == 128
                                ? run_staged_of<kMutation, 128, kBatch>(tree, launch, step, seed)
                                : run_staged_of<kMutation, 256, kBatch>(tree, launch, step, seed);
  return error.empty() ? tree.difference(choice.spills_runs, choice.stores_result) : error;
}

template <int kDim>
std::string run_wide_of(TreeCase& tree, const WideLaunch& launch) {
  const simt::Step step = attention::chain_step;
  const Params params = tree.params();
  std::string error = run_grid(
      launch.attend, step, 1, [&] { attend_wide_block<PolynomialExp, kDim>(params, launch.grid); });
  error += run_grid(launch.tails.attend, step, 1, [&] {
    attend_staged_block<PolynomialExp, kDim, Mutation::kNone>(params, launch.tails.grid);
  });
  return error + run_grid(launch.tails.merge, step, 1, [&] {
           merge_block<kTestBatch, kDim, Mutation::kNone>(params, launch.tails.merge_plan);
         });
}

std::string wide_difference(TreeCase& tree, const WideChoice& choice) {
  tree.poison();
  const WideLaunch launch = plan_wide(tree.shape(), choice);
  const std::string error =
      tree.shape().dim == 128 ? run_wide_of<128>(tree, launch) : run_wide_of<256>(tree, launch);
  return error.empty() ? tree.difference(choice.spills_runs, choice.stores_result) : error;
}

template <int kDim>
std::string direct_difference(TreeCase& tree, simt::Step step) {
  const Params params = tree.params();
  const Shape& shape = tree.shape();
  std::string error =
      run_grid({.num_blocks = std::int64_t{shape.num_rows} * shape.num_kv_heads * shape.num_groups,
                .num_threads = attention::kLanes},
               step,
               1,
               [&] { attend_direct_block<kDim>(params); });
  error +=
      run_grid({.num_blocks = std::int64_t{shape.num_rows} * shape.num_heads, .num_threads = kDim},
               step,
               1,
               [&] { merge_direct_block<kDim>(params); });
  return error.empty() ? tree.difference() : error;
}

std::string text_of(const StagedChoice& choice) {
  return "form " + std::to_string(static_cast<int>(choice.form)) + " slots " +
         std::to_string(choice.slots) + " stages " + std::to_string(choice.stages) + " tile " +
         std::to_string(choice.tile) + (choice.shares ? " shared" : "") +
         (choice.spills_runs ? " runs" : "") + " capacity " + std::to_string(choice.capacity);
}

// Streams of no, few and many keys; trees of several shapes; 3 query heads a key head, so that no
// tile is full.
CaseSetup mixed_setup() {
  return {.num_heads = 3,
          .num_kv_heads = 1,
          .streams = {{.committed = 1'030, .parents = binary(7)},
                      {.committed = 0, .parents = chain(3)},
                      {.committed = 511, .parents = star(2)}}};
}

CaseSetup wide_dim_setup() {
  return {.dim = 256,
          .num_heads = 4,
          .num_kv_heads = 2,
          .streams = {{.committed = 513, .parents = chain(3)}}};
}

TEST(SimtTreeAttention, DirectHasTheBitsOfTheContract) {
  TreeCase narrow(mixed_setup(), attention::tensor_core_step);
  EXPECT_EQ("", direct_difference<128>(narrow, attention::tensor_core_step));
  TreeCase wide(wide_dim_setup());
  EXPECT_EQ("", direct_difference<256>(wide, attention::chain_step));
}

TEST(SimtTreeAttention, StagedHasTheBitsOfTheTensorCores) {
  TreeCase tree(mixed_setup(), attention::tensor_core_step);
  for (const Form form : {Form::kFourWarp, Form::kOneWarp}) {
    EXPECT_EQ("", staged_difference(tree, {.form = form}, attention::tensor_core_step));
  }
}

TEST(SimtTreeAttention, NoLaunchParameterOfStagedChangesABit) {
  TreeCase tree(mixed_setup());
  for (const Form form : {Form::kFourWarp, Form::kOneWarp}) {
    for (const std::int32_t stages : {2, 3, 4}) {
      for (const std::int32_t tile : {16, 32, 64}) {
        const StagedChoice choice = {.form = form,
                                     .slots = stages - 1,
                                     .stages = stages,
                                     .tile = tile,
                                     .shares = (stages + tile / 16) % 2 == 0};
        EXPECT_EQ("", staged_difference(tree, choice)) << text_of(choice);
      }
    }
    for (const std::int32_t slots : {1, 2, 16}) {
      for (const bool shares : {true, false}) {
        for (const bool spills_runs : {true, false}) {
          const StagedChoice choice = {.form = form,
                                       .slots = slots,
                                       .shares = shares,
                                       .spills_runs = spills_runs,
                                       .capacity = slots == 2 ? 65'536 : 0};
          EXPECT_EQ("", staged_difference(tree, choice)) << text_of(choice);
        }
      }
    }
  }
}

TEST(SimtTreeAttention, HeadDim256HasTheBitsToo) {
  TreeCase tree(wide_dim_setup());
  for (const Form form : {Form::kFourWarp, Form::kOneWarp}) {
    for (const bool spills_runs : {true, false}) {
      const StagedChoice choice = {.form = form, .spills_runs = spills_runs};
      EXPECT_EQ("", staged_difference(tree, choice)) << text_of(choice);
    }
  }
  EXPECT_EQ("", wide_difference(tree, {.sms = 4}));
  EXPECT_EQ("", wide_difference(tree, {.slots = 1, .stages = 2, .tile = 16, .spills_runs = true}));
}

TEST(SimtTreeAttention, TheOrderOfThreadsChangesNothing) {
  TreeCase tree(mixed_setup());
  for (std::uint64_t seed = 2; seed < 5; ++seed) {
    const StagedChoice choice = {.form = Form::kFourWarp, .slots = 1, .spills_runs = seed % 2 == 0};
    EXPECT_EQ("", staged_difference(tree, choice, attention::chain_step, seed)) << seed;
  }
}

TEST(SimtTreeAttention, RunsFoldInOrderWhateverSpills) {
  // Nine groups: more than a run.
  TreeCase tree(
      {.num_heads = 2, .num_kv_heads = 1, .streams = {{.committed = 4'600, .parents = chain(2)}}});
  for (const Form form : {Form::kFourWarp, Form::kOneWarp}) {
    for (const bool spills_runs : {true, false}) {
      for (const bool shares : {true, false}) {
        const StagedChoice choice = {
            .form = form, .slots = 3, .shares = shares, .spills_runs = spills_runs};
        EXPECT_EQ("", staged_difference(tree, choice)) << text_of(choice);
      }
    }
  }
  EXPECT_EQ("", (staged_difference<Mutation::kNone, 1>(tree, {.form = Form::kOneWarp})));
  EXPECT_EQ("", (staged_difference<Mutation::kNone, 16>(tree, {.form = Form::kOneWarp})));
  EXPECT_EQ("", (staged_difference<Mutation::kNone, 8>(tree, {.form = Form::kFourWarp})));
  EXPECT_EQ("", wide_difference(tree, {.slots = 2, .spills_runs = true}));
  EXPECT_EQ("", wide_difference(tree, {.slots = 5}));
}

TEST(SimtTreeAttention, PathsCrossTheEdgeOfAGroup) {
  for (const std::int32_t committed : {384, 500, 510, 511, 512, 513}) {
    TreeCase tree({.num_heads = 2,
                   .num_kv_heads = 1,
                   .streams = {{.committed = committed, .parents = chain(4)}}});
    for (const Form form : {Form::kFourWarp, Form::kOneWarp}) {
      EXPECT_EQ("", staged_difference(tree, {.form = form})) << committed;
    }
    EXPECT_EQ("", wide_difference(tree, {})) << committed;
  }
}

TEST(SimtTreeAttention, APathOf128RowsCrossesTwoGroups) {
  TreeCase tree(
      {.num_heads = 1, .num_kv_heads = 1, .streams = {{.committed = 499, .parents = chain(128)}}});
  EXPECT_EQ("", staged_difference(tree, {.form = Form::kFourWarp, .tile = 32}));
}

TEST(SimtTreeAttention, WideHasTheBitsOfTheContract) {
  // 5 tiles of pairs: two blocks, the second not full.
  TreeCase tree({.num_heads = 11,
                 .num_kv_heads = 1,
                 .streams = {{.committed = 1'024, .parents = star(7)},
                             {.committed = 600, .parents = chain(1)}}});
  for (const std::int32_t tiles : {0, 1, 3}) {
    for (const std::int32_t stages : {2, 3, 4}) {
      const WideChoice choice = {.slots = stages - 1,
                                 .stages = stages,
                                 .tile = 16 << (stages - 2),
                                 .tiles = tiles,
                                 .spills_runs = stages == 3};
      EXPECT_EQ("", wide_difference(tree, choice)) << tiles << " " << stages;
    }
  }
}

TEST(SimtTreeAttention, AResultThatIsNotAskedForStaysUnwritten) {
  TreeCase tree(mixed_setup());
  EXPECT_EQ("", staged_difference(tree, {.form = Form::kFourWarp, .stores_result = false}));
  EXPECT_NE("", tree.difference());
}

TEST(SimtTreeAttention, NoStreamsAndNoRowsLaunchNothing) {
  TreeCase none({.streams = {}});
  const StagedLaunch nothing = plan_staged(none.shape(), {});
  EXPECT_EQ(0, nothing.attend.num_blocks);
  EXPECT_EQ(0, nothing.merge.num_blocks);
  EXPECT_EQ(0, plan_wide(none.shape(), {.sms = 132}).attend.num_blocks);
  TreeCase rowless({.streams = {{.committed = 600, .parents = {}}}});
  EXPECT_EQ("", staged_difference(rowless, {}));
}

TEST(SimtTreeAttention, OneWarpBlocksServeWhereFourWarpBlocksLeaveAnSmIdle) {
  TreeCase tree(mixed_setup());
  const StagedLaunch four = plan_staged(tree.shape(), {.form = Form::kFourWarp});
  const auto blocks = static_cast<std::int32_t>(four.attend.num_blocks);
  EXPECT_TRUE(plan_staged(tree.shape(), {.sms = blocks}).grid.block.is_four_warp);
  const StagedLaunch one = plan_staged(tree.shape(), {.sms = blocks + 1});
  EXPECT_FALSE(one.grid.block.is_four_warp);
  EXPECT_EQ(4 * four.attend.num_blocks, one.attend.num_blocks);
  EXPECT_EQ(2, one.grid.block.num_stages);
  EXPECT_EQ(3, plan_staged(tree.shape(), {.sms = 4 * blocks}).grid.block.num_stages);
}

// ---- Mutants ----

template <Mutation kMutation>
void expect_rejected(TreeCase& tree, const StagedChoice& choice) {
  const std::string difference = staged_difference<kMutation>(tree, choice);
  EXPECT_NE("", difference) << static_cast<int>(kMutation);
  EXPECT_EQ(std::string::npos, difference.find("block")) << difference;
}

TEST(SimtTreeAttention, EveryMutantDiffersFromTheContract) {
  TreeCase two({.num_heads = 4,
                .num_kv_heads = 2,
                .streams = {{.committed = 1'003, .parents = chain(5)},
                            {.committed = 1'003, .parents = chain(2)}},
                .extra_groups = 1});
  const StagedChoice four = {.form = Form::kFourWarp, .tile = 32};
  const StagedChoice one = {.form = Form::kOneWarp, .tile = 32};
  EXPECT_EQ("", staged_difference(two, four));
  expect_rejected<Mutation::kCutsPaths>(two, four);
  expect_rejected<Mutation::kScaleOffBySixteenth>(two, four);
  expect_rejected<Mutation::kDropsFourthSlice>(two, one);
  expect_rejected<Mutation::kReadsNextTile>(two, four);
  expect_rejected<Mutation::kOverwritesTileBeingRead>(two, four);
  expect_rejected<Mutation::kOverwritesTileBeingRead>(two, {.form = Form::kOneWarp, .stages = 3});
  expect_rejected<Mutation::kWrongHeadMap>(two, four);
  expect_rejected<Mutation::kGroupsAnchoredAtCommitted>(two, four);
  expect_rejected<Mutation::kReadsNeighbourCache>(two, four);
  expect_rejected<Mutation::kReadsPastCommitted>(two, four);
  expect_rejected<Mutation::kSlicesInReverse>(two, four);
  expect_rejected<Mutation::kContractsOneFold>(two, four);
  expect_rejected<Mutation::kKeepsMaskedValues>(two, four);
  expect_rejected<Mutation::kLeavesTailUnwritten>(two, four);

  TreeCase longer(
      {.num_heads = 2, .num_kv_heads = 1, .streams = {{.committed = 4'400, .parents = chain(1)}}});
  expect_rejected<Mutation::kDropsFourthSliceInChunk>(longer, one);
  expect_rejected<Mutation::kMergesInReverse>(longer, four);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
