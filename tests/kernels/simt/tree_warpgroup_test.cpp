// The warpgroup form of tree_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/tensor_core.h"
#include "kernels/tree_attention/cuda_warpgroup_plan.cuh"
#include "tests/kernels/simt/tree_case.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::tree_attention {
namespace {

using attention::ItemSpill;
using attention::PolynomialExp;

template <class Body>
void run_grid(const attention::Grid& grid, const Body& body) {
  if (grid.num_blocks == 0) {
    return;
  }
  ASSERT_EQ("",
            simt::run({.num_blocks = grid.num_blocks,
                       .num_threads = grid.num_threads,
                       .shared_bytes = grid.shared_bytes,
                       .step = attention::tensor_core_step},
                      body));
}

template <int kDim, int kTiles>
void run_warpgroup(TreeCase& tree, const attention::WarpgroupChoice& choice) {
  tree.poison();
  const WarpgroupLaunch launch = plan_warpgroup(tree.shape(), choice);
  ASSERT_EQ(kTiles, launch.tiles);
  const Params params = tree.params();
  run_grid(launch.attend,
           [&] { attend_warpgroup_block<PolynomialExp, kDim, kTiles>(params, launch.grid); });
  run_grid(launch.tails.attend, [&] {
    attend_staged_block<PolynomialExp, kDim, Mutation::kNone>(params, launch.tails.grid);
  });
  run_grid(launch.tails.merge, [&] { merge_warpgroup_block<4, kDim>(params, launch.merge_plan); });
}

// Partials of committed groups are compared where all leave as groups.
std::string difference(const TreeCase& tree, ItemSpill spill) {
  return tree.difference(spill != ItemSpill::kGroup && spill != ItemSpill::kSlice);
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractHoweverItSpills) {
  TreeCase tree({.num_heads = 4,
                 .num_kv_heads = 2,
                 .streams = {{.committed = 1'030, .parents = binary(3)},
                             {.committed = 0, .parents = chain(2)},
                             {.committed = 512, .parents = chain(1)}}},
                attention::tensor_core_step);
  for (const ItemSpill spill :
       {ItemSpill::kAuto, ItemSpill::kRun, ItemSpill::kGroup, ItemSpill::kSlice}) {
    run_warpgroup<128, 1>(tree, {.spill = spill, .sms = 3});
    EXPECT_EQ("", difference(tree, spill)) << static_cast<int>(spill);
  }
}

TEST(SimtTreeWarpgroup, MergesRunsAndGroupsOfOneRow) {
  TreeCase tree({.num_heads = 1,
                 .num_kv_heads = 1,
                 .streams = {{.committed = 512, .parents = chain(1)},
                             {.committed = 4'700, .parents = chain(1)}}},
                attention::tensor_core_step);
  run_warpgroup<128, 1>(tree, {.stages = 2, .sms = 2});
  EXPECT_EQ("", tree.difference(true));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractAtHeadDim256) {
  TreeCase tree({.dim = 256,
                 .num_heads = 6,
                 .num_kv_heads = 1,
                 .streams = {{.committed = 520, .parents = chain(2)}}},
                attention::tensor_core_step);
  run_warpgroup<256, 1>(tree, {.spill = ItemSpill::kSlice, .sms = 2});
  EXPECT_EQ("", difference(tree, ItemSpill::kSlice));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractWithTwoTiles) {
  TreeCase tree(
      {.num_heads = 16, .num_kv_heads = 1, .streams = {{.committed = 512, .parents = star(9)}}},
      attention::tensor_core_step);
  run_warpgroup<128, 2>(tree, {.spill = ItemSpill::kGroup, .sms = 1});
  EXPECT_EQ("", difference(tree, ItemSpill::kGroup));
}

TEST(SimtTreeWarpgroup, LaunchesNothingForNoRowsOrNoCommittedGroup) {
  Shape shape = {.num_heads = 8, .num_kv_heads = 2, .dim = 128};
  EXPECT_EQ(0, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
  shape.num_streams = 1;
  shape.num_rows = 4;
  shape.num_groups = 1;
  shape.most_committed = 511;
  EXPECT_EQ(0, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
  shape.most_committed = 512;
  EXPECT_EQ(132, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
