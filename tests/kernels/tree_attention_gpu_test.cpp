// Every CUDA variant of tree_attention against the cpu model of the tensor cores: partials, result
// and output by bytes. The bits are those of sm_90; another architecture may differ.
#include "kernels/tree_attention/cuda_tables.h"
#include "kernels/tree_attention/operator.h"
#include "tests/kernels/attention_gpu_call.h"

namespace assay::kernels::tree_attention {
namespace {

using Settings = std::vector<Setting>;

class TreeAttentionGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

const std::vector<Settings>& workloads() {
  static const std::vector<Settings> all = {
      {{"heads", "12"}, {"kv_heads", "2"}, {"rows", "9"}, {"committed", "1003"}},
      {{"heads", "12"},
       {"kv_heads", "2"},
       {"dim", "256"},
       {"streams", "9"},
       {"rows", "16"},
       {"committed", "2600"},
       {"lengths", "mixed"},
       {"tree", "binary"}},
      {{"heads", "3"}, {"kv_heads", "1"}, {"rows", "128"}, {"committed", "499"}},
      {{"heads", "8"},
       {"kv_heads", "2"},
       {"rows", "3"},
       {"committed", "4400"},
       {"base_offset", "8"}},
      {{"heads", "4"}, {"kv_heads", "1"}, {"rows", "5"}, {"committed", "0"}, {"tree", "star"}},
  };
  return all;
}

TEST_F(TreeAttentionGpu, RefusesOneStageAndAWorkingSetThatNoBlockHolds) {
  const CudaVariant* staged = find_variant(tree_attention(), "staged");
  ASSERT_NE(nullptr, staged);
  const WantedCall wanted = WantedCall::of(
      tree_attention(), {{"heads", "4"}, {"kv_heads", "1"}, {"dim", "256"}, {"committed", "600"}});
  DeviceCall device({&wanted, 1});
  LaunchParameters one_stage = make_parameters(staged->parameters, {});
  const auto stages = std::ranges::find(staged->parameters, "stages", &AxisInfo::name);
  ASSERT_NE(staged->parameters.end(), stages);
  one_stage.values[static_cast<std::size_t>(stages - staged->parameters.begin())] = 1;
  const LaunchParameters too_much =
      make_parameters(staged->parameters, {{"form", "four_warp"}, {"stages", "4"}, {"tile", "64"}});
  const CudaLaunch& attend = staged->stages.front().launch;
  EXPECT_EQ(cudaErrorInvalidValue, attend(device.call_of(wanted, too_much), nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, attend(device.call_of(wanted, one_stage), nullptr));
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
}

TEST_F(TreeAttentionGpu, EveryMutantIsRejectedByItsBits) {
  for (const CudaMutant& mutant : kCudaTables.mutants) {
    expect_rejected(tree_attention(), mutant);
  }
}

TEST_F(TreeAttentionGpu, EveryVariantAndLaunchParameterHasTheBitsOfTheModel) {
  std::vector<Settings> staged = {{}};
  for (const char* form : {"four_warp", "one_warp"}) {
    for (const char* stages : {"2", "3", "4"}) {
      staged.push_back({{"form", form}, {"stages", stages}, {"tile", "16"}});
    }
    for (const char* slots : {"1", "2", "3", "16"}) {
      for (const char* shared : {"on", "off"}) {
        for (const char* spill : {"group", "run"}) {
          staged.push_back({{"form", form},
                            {"slots", slots},
                            {"shared", shared},
                            {"spill", spill},
                            {"tile", "16"}});
        }
      }
    }
    for (const char* batch : {"1", "2", "4", "16"}) {
      staged.push_back({{"form", form}, {"merge_batch", batch}});
    }
    staged.push_back({{"form", form}, {"capacity", "262144"}, {"result", "skip"}});
    staged.push_back({{"form", form}, {"blocks_per_sm", "1"}, {"tile", "32"}, {"stages", "2"}});
  }
  // Four warps' rings of that tile fit no block at head dim 256.
  staged.push_back({{"form", "one_warp"}, {"blocks_per_sm", "1"}, {"tile", "64"}, {"stages", "2"}});
  for (const char* sms : {"1", "47", "1024"}) {
    staged.push_back({{"sms", sms}});
  }
  const std::vector<Settings> wide = {{},
                                      {{"tiles", "1"}, {"slots", "1"}},
                                      {{"tiles", "3"}, {"stages", "4"}, {"tile", "32"}},
                                      {{"spill", "run"}, {"slots", "2"}},
                                      {{"capacity", "262144"}, {"stages", "2"}, {"tile", "16"}},
                                      {{"result", "skip"}, {"merge_batch", "1"}}};
  std::vector<Settings> warpgroup = {{}, {{"capacity", "262144"}, {"result", "skip"}}};
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    for (const char* sms : {"1", "7", "132"}) {
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"stages", "2"}, {"pairs", "64"}});
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"stages", "3"}, {"pairs", "128"}});
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"pairs", "16"}, {"pdl", "off"}});
    }
  }
  for (const Settings& axes : workloads()) {
    expect_wanted_bits(tree_attention(), "direct", axes, {{}});
    expect_wanted_bits(tree_attention(), "warpgroup", axes, warpgroup);
    expect_wanted_bits(tree_attention(), "staged", axes, staged);
    expect_wanted_bits(tree_attention(), "wide", axes, wide);
  }
}

TEST_F(TreeAttentionGpu, WhatIsLeftOpenIsLaunchedAsTheTableSaysWithTheSameBits) {
  expect_tuned_launches(tree_attention());
  expect_wanted_bits(tree_attention(),
                     "warpgroup",
                     {{"rows", "1"}, {"committed", "20000"}},
                     {{}, {{"pairs", "16"}, {"stages", "2"}}});
}

// Small enough for a race checker.
TEST_F(TreeAttentionGpu, RunsEachVariantOnOneWorkload) {
  const Settings axes = {{"heads", "3"}, {"kv_heads", "1"}, {"rows", "3"}, {"committed", "600"}};
  expect_wanted_bits(tree_attention(), "direct", axes, {{}});
  expect_wanted_bits(tree_attention(),
                     "staged",
                     axes,
                     {{{"form", "four_warp"}}, {{"form", "one_warp"}, {"stages", "3"}}});
  expect_wanted_bits(tree_attention(), "wide", axes, {{}});
  expect_wanted_bits(tree_attention(), "warpgroup", axes, {{}, {{"spill", "run"}}});
}

TEST_F(TreeAttentionGpu, AGraphCapturedAtOneLengthServesOthers) {
  std::vector<WantedCall> calls;
  for (const char* committed : {"4000", "0", "511", "512", "7000"}) {
    calls.push_back(WantedCall::of(tree_attention(),
                                   {{"heads", "12"},
                                    {"kv_heads", "2"},
                                    {"rows", "7"},
                                    {"committed", committed},
                                    {"plan", "8192"}}));
  }
  for (const char* form : {"auto", "four_warp", "one_warp"}) {
    for (const char* spill : {"group", "run"}) {
      expect_graph_serves(tree_attention(),
                          "staged",
                          {{"form", form}, {"spill", spill}, {"capacity", "8192"}},
                          calls);
    }
  }
  expect_graph_serves(tree_attention(), "wide", {{"capacity", "8192"}}, calls);
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    expect_graph_serves(
        tree_attention(), "warpgroup", {{"spill", spill}, {"capacity", "8192"}}, calls);
  }
  expect_graph_serves(tree_attention(), "direct", {}, calls);
}

TEST_F(TreeAttentionGpu, ReadsWhatWasWrittenRightBefore) {
  std::vector<WantedCall> calls;
  for (const char* committed : {"4000", "130", "1023"}) {
    calls.push_back(WantedCall::of(tree_attention(),
                                   {{"heads", "12"},
                                    {"kv_heads", "2"},
                                    {"rows", "5"},
                                    {"committed", committed},
                                    {"plan", "4096"}}));
  }
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    expect_inputs_written_right_before(tree_attention(), "warpgroup", {{"spill", spill}}, calls);
  }
  expect_inputs_written_right_before(tree_attention(), "staged", {}, calls);
}

TEST_F(TreeAttentionGpu, AHundredRunsBesideOtherWorkHaveTheSameBits) {
  const Settings axes = {
      {"heads", "12"}, {"kv_heads", "2"}, {"streams", "3"}, {"rows", "8"}, {"committed", "2500"}};
  expect_same_bits_under_load(tree_attention(), "staged", {{"form", "four_warp"}}, axes);
  expect_same_bits_under_load(tree_attention(), "staged", {{"form", "one_warp"}}, axes);
  expect_same_bits_under_load(tree_attention(), "wide", {}, axes);
  expect_same_bits_under_load(tree_attention(), "warpgroup", {}, axes);
}

TEST_F(TreeAttentionGpu, NoStreamsLaunchNothing) {
  const WantedCall wanted = WantedCall::of(tree_attention(), {{"streams", "0"}});
  DeviceCall device({&wanted, 1});
  for (const CudaVariant& variant : kCudaTables.variants) {
    Trace trace;
    const LaunchParameters parameters = make_parameters(variant.parameters, {});
    run_stages(variant.stages, device.call_of(wanted, parameters, &trace), nullptr);
    EXPECT_TRUE(trace.kernels.empty()) << variant.name;
  }
}

}  // namespace
}  // namespace assay::kernels::tree_attention
