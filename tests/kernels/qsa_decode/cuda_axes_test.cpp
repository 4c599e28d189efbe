#include "kernels/qsa_decode/cuda_axes.h"

#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::kernels::qsa_decode {
namespace {

constexpr TunedLaunch kTuned = {
    .cells_per_step = 8, .merge_batch = 32, .merge_blocks = 4, .prefetch = true};

TEST(CudaAxes, AValueThatIsNoChoiceIsRefusedNotRead) {
  const LaunchParameters open = make_parameters(kTwoCellParameters, {});
  EXPECT_FALSE(resolve(open, {.cells_per_step = 3}).are_valid());
  EXPECT_FALSE(resolve(open, {.merge_batch = 64}).are_valid());
  EXPECT_FALSE(resolve(open, {.merge_blocks = 0}).are_valid());
  LaunchParameters unchecked = open;
  unchecked.values[kMergeBatch] = 5;
  EXPECT_FALSE(resolve(unchecked, kTuned).are_valid());
  unchecked.values[kMergeBatch] = -1;
  EXPECT_FALSE(resolve(unchecked, kTuned).are_valid());
}

TEST(CudaAxes, AutoIsWhatIsTunedAndElseTheDefaults) {
  const LaunchParameters open = make_parameters(kTwoCellParameters, {});
  EXPECT_TRUE(has_auto(open));
  const std::vector<Setting> tuned = {
      {"cells_per_step", "8"}, {"merge_batch", "32"}, {"merge_blocks", "4"}, {"prefetch", "l2"}};
  const std::vector<Setting> defaults = {
      {"cells_per_step", "2"}, {"merge_batch", "16"}, {"merge_blocks", "1"}, {"prefetch", "off"}};
  EXPECT_EQ(resolve(open, kTuned), resolve(make_parameters(kTwoCellParameters, tuned), {}));
  EXPECT_EQ(resolve(open, {}), resolve(make_parameters(kTwoCellParameters, defaults), kTuned));
  EXPECT_TRUE(resolve(open, kTuned).are_valid());
}

TEST(CudaAxes, WhatIsGivenStays) {
  const LaunchParameters given =
      make_parameters(kTwoCellParameters, {{"cells_per_step", "1"}, {"prefetch", "off"}});
  EXPECT_TRUE(has_auto(given));
  const LaunchChoices choices = resolve(given, kTuned);
  EXPECT_EQ(kCellChoices[choices.cells], 1);
  EXPECT_FALSE(choices.prefetch);
  EXPECT_EQ(kBatchChoices[choices.batch], 32);
}

TEST(CudaAxes, TheBaselineLeavesNothingOpen) {
  const LaunchParameters given = make_parameters(kOneCellParameters, {});
  EXPECT_FALSE(has_auto(given));
  EXPECT_EQ(resolve(given, kTuned), (LaunchChoices{.batch = 2}));
  EXPECT_FALSE(
      complete_settings(kOneCellParameters, std::vector<Setting>{{"merge_batch", "auto"}}).ok());
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
