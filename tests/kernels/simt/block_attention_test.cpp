// Every CUDA kernel of block_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#include "kernels/attention/tensor_core.h"
#include "kernels/block_attention/cuda_plan.cuh"
#include "tests/kernels/simt/block_case.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::block_attention {
namespace {

using attention::PolynomialExp;

constexpr int kTestBatch = 4;  // partials that the merge loads at once

template <class Body>
std::string run_grid(const attention::Grid& grid, simt::Step step, const Body& body) {
  return simt::run({.num_blocks = grid.num_blocks,
                    .num_threads = grid.num_threads,
                    .shared_bytes = grid.shared_bytes,
                    .step = step},
                   body);
}

template <Mutation kMutation, int kDim>
std::string run_staged_of(BlockCase& block, const StagedLaunch& launch, simt::Step step) {
  const Params params = block.params();
  const std::string error = run_grid(launch.attend, step, [&] {
    attend_staged_block<PolynomialExp, kDim, kMutation>(params, launch.grid);
  });
  return error + run_grid(launch.merge, step, [&] {
           merge_block<kTestBatch, kDim, kMutation>(params, launch.merge_plan);
         });
}

// Empty, or what went wrong or differs.
template <Mutation kMutation = Mutation::kNone>
std::string staged_difference(BlockCase& block,
                              const StagedChoice& choice,
                              simt::Step step = attention::chain_step) {
  block.poison();
  const StagedLaunch launch = plan_staged(block.shape(), choice);
  const std::string error = block.shape().dim == 128
                                ? run_staged_of<kMutation, 128>(block, launch, step)
                                : run_staged_of<kMutation, 256>(block, launch, step);
  return error.empty() ? block.difference(choice.spills_runs, choice.stores_result) : error;
}

template <int kDim>
std::string direct_difference(BlockCase& block, simt::Step step) {
  const Params params = block.params();
  const Shape& shape = block.shape();
  std::string error = run_grid(
      {.num_blocks = std::int64_t{shape.num_rows()} * shape.num_kv_heads * shape.num_groups,
       .num_threads = attention::kLanes},
      step,
      [&] { attend_direct_block<kDim>(params); });
  error += run_grid(
      {.num_blocks = std::int64_t{shape.num_rows()} * shape.num_heads, .num_threads = kDim},
      step,
      [&] { merge_direct_block<kDim>(params); });
  return error.empty() ? block.difference() : error;
}

TEST(SimtBlockAttention, DirectHasTheBitsOfTheContract) {
  for (const bool is_causal : {false, true}) {
    BlockCase block({.window = 300, .is_causal = is_causal, .contexts = {601, 0}},
                    attention::tensor_core_step);
    EXPECT_EQ("", direct_difference<128>(block, attention::tensor_core_step)) << is_causal;
  }
  BlockCase wide({.dim = 256, .num_heads = 2, .width = 3, .contexts = {200}});
  EXPECT_EQ("", direct_difference<256>(wide, attention::chain_step));
}

TEST(SimtBlockAttention, StagedHasTheBitsOfTheTensorCores) {
  BlockCase block({.window = 300, .is_causal = true, .contexts = {601, 5}},
                  attention::tensor_core_step);
  EXPECT_EQ("", staged_difference(block, {.tile = 32}, attention::tensor_core_step));
}

TEST(SimtBlockAttention, NoLaunchParameterOfStagedChangesABit) {
  BlockCase block({.window = 300, .contexts = {0, 7, 1'100}});
  for (const std::int32_t stages : {2, 3, 4}) {
    for (const std::int32_t tile : {16, 32, 64}) {
      for (const bool skips : {true, false}) {
        const StagedChoice choice = {.stages = stages,
                                     .tile = tile,
                                     .spills_runs = (stages + tile / 16) % 2 == 0,
                                     .skips = skips,
                                     .sms = stages * 4};
        EXPECT_EQ("", staged_difference(block, choice)) << stages << " " << tile << " " << skips;
      }
    }
  }
}

TEST(SimtBlockAttention, HeadDim256HasTheBitsToo) {
  BlockCase block({.dim = 256, .num_heads = 4, .num_kv_heads = 2, .width = 9, .contexts = {530}});
  for (const bool spills_runs : {true, false}) {
    EXPECT_EQ("", staged_difference(block, {.spills_runs = spills_runs, .sms = 8}));
  }
}

TEST(SimtBlockAttention, AWindowEndsAnywhereInASliceOrGroup) {
  // A row loses one more key than the row before: across the edge of a slice and of a group too.
  for (const std::int32_t window : {0, 1, 88, 383, 384, 600, 601}) {
    BlockCase block({.window = window, .is_causal = window % 2 == 0, .contexts = {600}});
    EXPECT_EQ("", staged_difference(block, {})) << window;
    EXPECT_EQ("", staged_difference(block, {.skips = false, .sms = 3})) << window;
  }
}

TEST(SimtBlockAttention, RunsFoldInOrderWhateverSpills) {
  // Ten groups, the first of them hidden from the last rows.
  BlockCase block({.num_heads = 2, .width = 8, .window = 4'096, .contexts = {4'600}});
  for (const bool spills_runs : {true, false}) {
    for (const bool skips : {true, false}) {
      const StagedChoice choice = {.spills_runs = spills_runs, .skips = skips, .sms = 2};
      EXPECT_EQ("", staged_difference(block, choice)) << spills_runs << skips;
    }
  }
}

TEST(SimtBlockAttention, TheLastTileOfPairsIsNotFull) {
  BlockCase block({.num_heads = 10, .num_kv_heads = 2, .width = 16, .contexts = {130}});
  EXPECT_EQ("", staged_difference(block, {.sms = 16}));
}

TEST(SimtBlockAttention, NoStreamsLaunchNothing) {
  BlockCase none({.contexts = {}});
  const StagedLaunch launch = plan_staged(none.shape(), {.sms = 132});
  EXPECT_EQ(0, launch.attend.num_blocks);
  EXPECT_EQ(0, launch.merge.num_blocks);
}

// ---- Mutants ----

template <Mutation kMutation>
void expect_rejected(BlockCase& block) {
  const std::string difference = staged_difference<kMutation>(block, {.tile = 32, .sms = 2});
  EXPECT_NE("", difference) << static_cast<int>(kMutation);
  EXPECT_EQ(std::string::npos, difference.find("block")) << difference;
}

TEST(SimtBlockAttention, EveryMutantDiffersFromTheContract) {
  const CaseSetup setup = {
      .num_heads = 4, .num_kv_heads = 2, .window = 500, .contexts = {601, 601}};
  BlockCase block(setup);
  EXPECT_EQ("", staged_difference(block, {.tile = 32, .sms = 2}));
  expect_rejected<Mutation::kWindowOffByOne>(block);
  expect_rejected<Mutation::kScaleOffBySixteenth>(block);
  expect_rejected<Mutation::kReadsNextTile>(block);
  expect_rejected<Mutation::kWrongHeadMap>(block);
  expect_rejected<Mutation::kKeepsMaskedValues>(block);
  expect_rejected<Mutation::kDropsFourthSlice>(block);
  expect_rejected<Mutation::kReadsNeighbourContext>(block);
  CaseSetup causal = setup;
  causal.is_causal = true;
  BlockCase causal_block(causal);
  expect_rejected<Mutation::kCausalOffByOne>(causal_block);
  BlockCase longer({.num_heads = 2, .width = 2, .contexts = {4'400}});
  expect_rejected<Mutation::kMergesInReverse>(longer);
}

}  // namespace
}  // namespace assay::kernels::block_attention
