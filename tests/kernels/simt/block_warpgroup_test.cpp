// The warpgroup form of block_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/tensor_core.h"
#include "kernels/block_attention/cuda_warpgroup_plan.cuh"
#include "tests/kernels/simt/block_case.h"
#include "tests/kernels/simt/panel_maps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace assay::kernels::block_attention {
namespace {

using attention::ItemSpill;
using attention::PolynomialExp;

// The choice, with that many pairs in a block.
template <int kPairs>
attention::WarpgroupChoice of_pairs(attention::WarpgroupChoice choice) {
  choice.pairs = kPairs;
  return choice;
}

template <class Body>
std::string run_grid(const attention::Grid& grid, std::uint64_t seed, const Body& body) {
  return simt::run({.num_blocks = grid.num_blocks,
                    .num_threads = grid.num_threads,
                    .shared_bytes = grid.shared_bytes,
                    .step = attention::tensor_core_step,
                    .seed = seed},
                   body);
}

// Empty, or what went wrong or differs.
template <int kDim, int kPairs>
std::string difference(BlockCase& block,
                       const attention::WarpgroupChoice& choice,
                       std::uint64_t seed = 1) {
  block.poison();
  const WarpgroupLaunch launch = plan_warpgroup(block.shape(), of_pairs<kPairs>(choice));
  EXPECT_EQ(kPairs, launch.pairs);
  const Params params = block.params();
  const attention::PanelMaps maps = attention::panel_maps_of(
      params.k_context, params.v_context, block.num_context_elements(), kDim);
  std::string error = run_grid(launch.attend, seed, [&] {
    attend_warpgroup_block<PolynomialExp, kDim, kPairs>(params, maps, launch.grid);
  });
  error +=
      run_grid(launch.merge, seed, [&] { merge_warpgroup_block<4, kDim>(params, launch.grid); });
  const bool has_groups = choice.spill == ItemSpill::kGroup || choice.spill == ItemSpill::kSlice;
  return error.empty() ? block.difference(!has_groups, choice.stores_result) : error;
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractHoweverItSpills) {
  BlockCase block({.num_heads = 4,
                   .num_kv_heads = 2,
                   .width = 3,
                   .window = 600,
                   .contexts = {0, 7, 1'100, 511}},
                  attention::tensor_core_step);
  for (const ItemSpill spill :
       {ItemSpill::kAuto, ItemSpill::kRun, ItemSpill::kGroup, ItemSpill::kSlice}) {
    EXPECT_EQ("", (difference<128, 64>(block, {.spill = spill, .sms = 3})))
        << static_cast<int>(spill);
  }
}

TEST(SimtBlockWarpgroup, MergesRunsAndGroupsOfOneRow) {
  BlockCase block(
      {.num_heads = 1, .num_kv_heads = 1, .width = 2, .is_causal = true, .contexts = {300, 4'500}},
      attention::tensor_core_step);
  EXPECT_EQ("", (difference<128, 64>(block, {.stages = 2, .sms = 2})));
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractAtHeadDim256) {
  BlockCase block({.dim = 256,
                   .num_heads = 2,
                   .num_kv_heads = 1,
                   .width = 4,
                   .window = 129,
                   .is_causal = true,
                   .contexts = {520}},
                  attention::tensor_core_step);
  EXPECT_EQ("", (difference<256, 64>(block, {.spill = ItemSpill::kSlice, .sms = 2})));
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractWithTwoTiles) {
  BlockCase block(
      {.num_heads = 16, .num_kv_heads = 1, .width = 5, .window = 100, .contexts = {130}},
      attention::tensor_core_step);
  EXPECT_EQ(
      "",
      (difference<128, 128>(block, {.spill = ItemSpill::kRun, .sms = 1, .stores_result = false})));
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractWithMoreStreamsThanAWarpHasLanes) {
  CaseSetup setup = {.num_heads = 2, .num_kv_heads = 1, .width = 2, .window = 70, .contexts = {}};
  for (std::int32_t stream = 0; stream < 38; ++stream) {
    setup.contexts.push_back(stream % 5 * 47 + stream % 3);
  }
  BlockCase block(setup, attention::tensor_core_step);
  for (const ItemSpill spill : {ItemSpill::kAuto, ItemSpill::kSlice}) {
    EXPECT_EQ("", (difference<128, 64>(block, {.spill = spill, .sms = 4}, 3)))
        << static_cast<int>(spill);
  }
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractInAnyOrderOfThreads) {
  // Context keys that fill boxes of eight rows, slices, neither; windows that begin in them.
  for (const std::int32_t window : {21, 128, 200}) {
    BlockCase block({.num_heads = 2,
                     .num_kv_heads = 1,
                     .width = 9,
                     .window = window,
                     .is_causal = window == 128,
                     .contexts = {136, 253, 128, 3}},
                    attention::tensor_core_step);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const attention::WarpgroupChoice choice = {
          .stages = static_cast<std::int32_t>(seed + 1), .spill = ItemSpill::kRun, .sms = 1};
      EXPECT_EQ("", (difference<128, 64>(block, choice, seed))) << window << " " << seed;
    }
  }
}

TEST(SimtBlockWarpgroup, LaunchesNothingForNoStreams) {
  const Shape shape = {.width = 8, .num_heads = 8, .num_kv_heads = 2, .dim = 128};
  EXPECT_EQ(0, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
}

}  // namespace
}  // namespace assay::kernels::block_attention
