// The warpgroup form of tree_attention, run on the host, against the bit contract in plain loops.
#define ASSAY_SIMT "tests/kernels/simt/primitives.h"
#define ASSAY_SIMT_WARPGROUP "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/tensor_core.h"
#include "kernels/tree_attention/cuda_warpgroup_plan.cuh"
#include "tests/kernels/simt/panel_maps.h"
#include "tests/kernels/simt/tree_case.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
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
void run_grid(const attention::Grid& grid, std::uint64_t seed, const Body& body) {
  if (grid.num_blocks == 0) {
    return;
  }
  ASSERT_EQ("",
            simt::run({.num_blocks = grid.num_blocks,
                       .num_threads = grid.num_threads,
                       .shared_bytes = grid.shared_bytes,
                       .step = attention::tensor_core_step,
                       .seed = seed},
                      body));
}

template <int kDim, int kPairs>
WarpgroupLaunch run_attend(TreeCase& tree,
                           const attention::WarpgroupChoice& choice,
                           std::uint64_t seed = 1) {
  tree.poison();
  const WarpgroupLaunch launch = plan_warpgroup(tree.shape(), of_pairs<kPairs>(choice));
  EXPECT_EQ(kPairs, launch.pairs);
  const Params params = tree.params();
  const attention::PanelMaps maps =
      attention::panel_maps_of(params.k_cache,
                               params.v_cache,
                               tree.num_cache_elements(),
                               std::int64_t{tree.shape().num_kv_heads} * kDim);
  run_grid(launch.attend, seed, [&] {
    attend_warpgroup_block<PolynomialExp, kDim, kPairs>(params, maps, launch.grid);
  });
  return launch;
}

template <int kDim, int kPairs>
WarpgroupLaunch run_warpgroup(TreeCase& tree,
                              const attention::WarpgroupChoice& choice,
                              std::uint64_t seed = 1) {
  const WarpgroupLaunch launch = run_attend<kDim, kPairs>(tree, choice, seed);
  const Params params = tree.params();
  run_grid(launch.merge, seed, [&] { merge_warpgroup_block<4, kDim>(params, launch.merge_plan); });
  return launch;
}

// Partials of committed groups are compared where all leave as groups.
std::string difference(const TreeCase& tree, ItemSpill spill) {
  return tree.difference(spill != ItemSpill::kGroup && spill != ItemSpill::kSlice);
}

constexpr ItemSpill kSpills[] = {
    ItemSpill::kAuto, ItemSpill::kRun, ItemSpill::kGroup, ItemSpill::kSlice};

// More streams than a warp has lanes: none committed, whole slices, less than one, whole groups.
std::vector<CaseStream> many_streams() {
  constexpr std::int32_t kCommitted[] = {0, 128, 70, 300, 512};
  std::vector<CaseStream> streams;
  for (int i = 0; i < 38; ++i) {
    streams.push_back({.committed = kCommitted[i % 5], .parents = chain(i % 7 == 3 ? 0 : 1)});
  }
  return streams;
}

TEST(SimtTreeWarpgroup, LeavesWhatIsBehindWholeGroupsAsSlices) {
  TreeCase tree({.num_heads = 4,
                 .num_kv_heads = 2,
                 .streams = {{.committed = 1'030, .parents = binary(3)},
                             {.committed = 0, .parents = chain(2)},
                             {.committed = 127, .parents = star(4)},
                             {.committed = 900, .parents = chain(3)},
                             {.committed = 512, .parents = chain(1)}}},
                attention::tensor_core_step);
  for (const ItemSpill spill : kSpills) {
    for (const std::int32_t sms : {1, 8}) {
      run_attend<128, 64>(tree, {.spill = spill, .sms = sms}, static_cast<std::uint64_t>(sms));
      EXPECT_EQ("", tree.slice_difference(spill == ItemSpill::kSlice)) << static_cast<int>(spill);
    }
  }
}

TEST(SimtTreeWarpgroup, LeavesSlicesOfMoreStreamsThanAWarpHasLanes) {
  TreeCase tree({.num_heads = 2, .num_kv_heads = 2, .streams = many_streams()},
                attention::tensor_core_step);
  run_attend<128, 64>(tree, {.spill = ItemSpill::kRun, .sms = 2});
  EXPECT_EQ("", tree.slice_difference(false));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractWithMoreStreamsThanAWarpHasLanes) {
  TreeCase tree({.num_heads = 2, .num_kv_heads = 2, .streams = many_streams()},
                attention::tensor_core_step);
  for (const ItemSpill spill : {ItemSpill::kAuto, ItemSpill::kSlice}) {
    run_warpgroup<128, 64>(tree, {.spill = spill, .sms = 2}, 2);
    EXPECT_EQ("", difference(tree, spill)) << static_cast<int>(spill);
  }
}

TEST(SimtTreeWarpgroup, AttendsCommittedSlicesBesideAsManyTailsAsBlocks) {
  TreeCase tree(
      {.num_heads = 4, .num_kv_heads = 2, .streams = {{.committed = 300, .parents = star(9)}}},
      attention::tensor_core_step);
  for (const ItemSpill spill : {ItemSpill::kAuto, ItemSpill::kGroup}) {
    const WarpgroupLaunch launch = run_attend<128, 64>(tree, {.spill = spill, .sms = 1});
    EXPECT_EQ(2, launch.grid.tails.num_blocks);
    EXPECT_EQ("", tree.slice_difference(false)) << static_cast<int>(spill);
  }
}

TEST(SimtTreeWarpgroup, TakesTailsInTurnWhereThereAreMoreThanWarps) {
  // Nine rows of two key heads on two warps of a block each, then of one block.
  TreeCase tree(
      {.num_heads = 4, .num_kv_heads = 2, .streams = {{.committed = 200, .parents = binary(9)}}},
      attention::tensor_core_step);
  for (const std::int32_t sms : {1, 2}) {
    run_warpgroup<128, 64>(tree, {.spill = ItemSpill::kSlice, .sms = sms});
    EXPECT_EQ("", difference(tree, ItemSpill::kSlice)) << sms;
  }
}

TEST(SimtTreeWarpgroup, SharesTailsOfOneAndTwoSlicesAmongABlocksWarps) {
  // Of one key, of a slice but one, and across a slice's end.
  const std::vector<CaseStream> streams = {{.committed = 0, .parents = chain(1)},
                                           {.committed = 126, .parents = chain(1)},
                                           {.committed = 250, .parents = chain(9)}};
  TreeCase narrow({.num_heads = 5, .num_kv_heads = 1, .streams = streams},
                  attention::tensor_core_step);
  EXPECT_TRUE((run_warpgroup<128, 64>(narrow, {.stages = 3, .sms = 11}).grid.tails.is_shared));
  EXPECT_EQ("", narrow.difference(true));
  EXPECT_TRUE((run_warpgroup<128, 16>(narrow, {.stages = 3, .sms = 11}).grid.tails.is_shared));
  EXPECT_EQ("", narrow.difference(true));
  TreeCase wide({.dim = 256, .num_heads = 5, .num_kv_heads = 1, .streams = streams},
                attention::tensor_core_step);
  EXPECT_TRUE((run_warpgroup<256, 16>(wide, {.stages = 5, .sms = 11}).grid.tails.is_shared));
  EXPECT_EQ("", wide.difference(true));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractHoweverItSpills) {
  TreeCase tree({.num_heads = 4,
                 .num_kv_heads = 2,
                 .streams = {{.committed = 1'030, .parents = binary(3)},
                             {.committed = 0, .parents = chain(2)},
                             {.committed = 512, .parents = chain(1)}}},
                attention::tensor_core_step);
  for (const ItemSpill spill : kSpills) {
    run_warpgroup<128, 64>(tree, {.spill = spill, .sms = 3});
    EXPECT_EQ("", difference(tree, spill)) << static_cast<int>(spill);
  }
}

TEST(SimtTreeWarpgroup, MergesRunsAndGroupsOfOneRow) {
  TreeCase tree({.num_heads = 1,
                 .num_kv_heads = 1,
                 .streams = {{.committed = 512, .parents = chain(1)},
                             {.committed = 4'700, .parents = chain(1)}}},
                attention::tensor_core_step);
  run_warpgroup<128, 64>(tree, {.stages = 2, .sms = 2});
  EXPECT_EQ("", tree.difference(true));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractAtHeadDim256) {
  TreeCase tree({.dim = 256,
                 .num_heads = 6,
                 .num_kv_heads = 1,
                 .streams = {{.committed = 520, .parents = chain(2)}}},
                attention::tensor_core_step);
  run_warpgroup<256, 64>(tree, {.spill = ItemSpill::kSlice, .sms = 2});
  EXPECT_EQ("", difference(tree, ItemSpill::kSlice));
}

TEST(SimtTreeWarpgroup, HasTheBitsOfTheContractWithTwoTiles) {
  TreeCase tree(
      {.num_heads = 16, .num_kv_heads = 1, .streams = {{.committed = 512, .parents = star(9)}}},
      attention::tensor_core_step);
  run_warpgroup<128, 128>(tree, {.spill = ItemSpill::kGroup, .sms = 1});
  EXPECT_EQ("", difference(tree, ItemSpill::kGroup));
}

TEST(SimtTreeWarpgroup, LaunchesNothingForNoRows) {
  const Shape shape = {.num_heads = 8, .num_kv_heads = 2, .dim = 128};
  EXPECT_EQ(0, plan_warpgroup(shape, {.sms = 132}).attend.num_blocks);
}

TEST(SimtTreeWarpgroup, TunedStagesGoWithOpenPairsWhereABlockHasRoom) {
  const attention::TunedItems tuned = {.pairs = 16, .stages = 6};
  attention::WarpgroupChoice open = {.sms = 132};
  take_tuned(tuned, &open);
  EXPECT_EQ(16, open.pairs);
  EXPECT_EQ(6, attention::warpgroup_stages(128, 16, open));
  // More than a block of 64 pairs holds: by rule.
  const std::int32_t by_rule = attention::warpgroup_stages(128, 64, {});
  EXPECT_LT(by_rule, 6);
  EXPECT_EQ(by_rule, attention::warpgroup_stages(128, 64, open));

  attention::WarpgroupChoice given = {.pairs = 64, .sms = 132};
  take_tuned({.pairs = 16, .stages = 2}, &given);
  EXPECT_EQ(64, given.pairs);
  EXPECT_EQ(by_rule, attention::warpgroup_stages(128, 64, given));
  attention::WarpgroupChoice given_stages = {.stages = 3, .sms = 132};
  take_tuned(tuned, &given_stages);
  EXPECT_EQ(3, attention::warpgroup_stages(128, 16, given_stages));
}

TEST(SimtTreeWarpgroup, APlanTakesWhatIsTuned) {
  Shape shape = {.num_heads = 48, .num_kv_heads = 4, .dim = 128};
  shape.num_streams = 1;
  shape.num_rows = 1;
  shape.num_groups = 65;
  shape.most_committed = 32'768;
  shape.streams = {{1, {0, 32'768}}};
  attention::WarpgroupChoice choice = {.sms = 132};
  const WarpgroupLaunch by_rule = plan_warpgroup(shape, choice);
  take_tuned({.pairs = 64, .stages = 2}, &choice);
  const WarpgroupLaunch tuned = plan_warpgroup(shape, choice);
  EXPECT_EQ(16, by_rule.pairs);
  EXPECT_LT(2, by_rule.grid.num_stages);
  EXPECT_EQ(64, tuned.pairs);
  EXPECT_EQ(2, tuned.grid.num_stages);
}

TEST(SimtTreeWarpgroup, FewTailsHaveABlockEachBesideTheItems) {
  Shape shape = {.num_heads = 8, .num_kv_heads = 2, .dim = 128};
  shape.num_streams = 1;
  shape.num_rows = 4;
  shape.num_groups = 1;
  shape.streams = {{4, {0, 511}}};
  const WarpgroupLaunch few = plan_warpgroup(shape, {.pairs = 64, .sms = 132});
  EXPECT_EQ(8, few.grid.tails.num_blocks);
  EXPECT_TRUE(few.grid.tails.is_shared);
  EXPECT_EQ(2 * 132, few.attend.num_blocks);
  shape.num_rows = 4'000;
  shape.num_streams = 1'000;
  shape.streams.assign(1'000, {4, {0, 511}});
  const WarpgroupLaunch many = plan_warpgroup(shape, {.pairs = 64, .sms = 132});
  EXPECT_FALSE(many.grid.tails.is_shared);
  EXPECT_LT(1, many.grid.tails.num_warps);
  EXPECT_EQ(2 * 132, many.grid.tails.num_blocks);
  EXPECT_EQ(2 * 132, many.grid.num_blocks);
  EXPECT_EQ(4 * 132, many.attend.num_blocks);
}

TEST(SimtTreeWarpgroup, TailsHaveRoomInTheStagesOfItems) {
  for (const std::int32_t dim : {128, 256}) {
    for (std::int32_t stages = attention::kLeastItemStages; stages <= attention::kMostItemStages;
         ++stages) {
      for (const std::int64_t num_tails : {1, 17, 4'000}) {
        const std::int32_t bytes = stages * 2 * attention::kPanelBytes;
        const TailPlan plan = plan_tails(dim, num_tails, 132, 8, bytes);
        if (plan.is_shared) {
          EXPECT_LE(shared_tail_bytes(dim), bytes) << dim << " " << stages;
          EXPECT_EQ(num_tails, plan.num_blocks);
          continue;
        }
        const std::int32_t used =
            (attention::kTilePairs + plan.block.num_stages * plan.block.tile) * dim * 2 +
            attention::kRolledFloats * static_cast<std::int32_t>(sizeof(float));
        EXPECT_LE(1, plan.num_warps);
        EXPECT_LE(used, plan.warp_bytes) << dim << " " << stages << " " << num_tails;
        EXPECT_LE(plan.num_warps * plan.warp_bytes, bytes) << dim << " " << stages;
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::tree_attention
