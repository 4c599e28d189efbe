// The warpgroup form of block_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/tensor_core.h"
#include "kernels/block_attention/cuda_warpgroup_plan.cuh"
#include "tests/kernels/simt/block_case.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::block_attention {
namespace {

using attention::ItemSpill;
using attention::PolynomialExp;

template <class Body>
std::string run_grid(const attention::Grid& grid, const Body& body) {
  return simt::run({.num_blocks = grid.num_blocks,
                    .num_threads = grid.num_threads,
                    .shared_bytes = grid.shared_bytes,
                    .step = attention::tensor_core_step},
                   body);
}

// Empty, or what went wrong or differs.
template <int kDim, int kTiles>
std::string difference(BlockCase& block, const attention::WarpgroupChoice& choice) {
  block.poison();
  const WarpgroupLaunch launch = plan_warpgroup(block.shape(), choice);
  EXPECT_EQ(kTiles, launch.tiles);
  const Params params = block.params();
  std::string error = run_grid(launch.attend, [&] {
    attend_warpgroup_block<PolynomialExp, kDim, kTiles>(params, launch.grid);
  });
  error += run_grid(launch.merge, [&] { merge_warpgroup_block<4, kDim>(params, launch.grid); });
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
    EXPECT_EQ("", (difference<128, 1>(block, {.spill = spill, .sms = 3})))
        << static_cast<int>(spill);
  }
}

TEST(SimtBlockWarpgroup, MergesRunsAndGroupsOfOneRow) {
  BlockCase block(
      {.num_heads = 1, .num_kv_heads = 1, .width = 2, .is_causal = true, .contexts = {300, 4'500}},
      attention::tensor_core_step);
  EXPECT_EQ("", (difference<128, 1>(block, {.stages = 2, .sms = 2})));
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
  EXPECT_EQ("", (difference<256, 1>(block, {.spill = ItemSpill::kSlice, .sms = 2})));
}

TEST(SimtBlockWarpgroup, HasTheBitsOfTheContractWithTwoTiles) {
  BlockCase block(
      {.num_heads = 16, .num_kv_heads = 1, .width = 5, .window = 100, .contexts = {130}},
      attention::tensor_core_step);
  EXPECT_EQ(
      "",
      (difference<128, 2>(block, {.spill = ItemSpill::kRun, .sms = 1, .stores_result = false})));
}

TEST(SimtBlockWarpgroup, LaunchesNothingForNoStreams) {
  const Shape shape = {.width = 8, .num_heads = 8, .num_kv_heads = 2, .dim = 128};
  EXPECT_EQ(0, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
}

}  // namespace
}  // namespace assay::kernels::block_attention
