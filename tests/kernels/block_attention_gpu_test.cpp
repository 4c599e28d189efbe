// Every CUDA variant of block_attention against the cpu model of the tensor cores: partials, result
// and output by bytes. The bits are those of sm_90; another architecture may differ.
#include "kernels/block_attention/cuda_tables.h"
#include "kernels/block_attention/operator.h"
#include "tests/kernels/attention_gpu_call.h"

namespace assay::kernels::block_attention {
namespace {

using Settings = std::vector<Setting>;

class BlockAttentionGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

const std::vector<Settings>& workloads() {
  static const std::vector<Settings> all = {
      {{"heads", "8"}, {"kv_heads", "2"}, {"width", "7"}, {"context", "601"}, {"window", "500"}},
      {{"heads", "8"},
       {"kv_heads", "2"},
       {"dim", "256"},
       {"streams", "8"},
       {"width", "16"},
       {"context", "2600"},
       {"lengths", "edges"},
       {"window", "1000"},
       {"causal", "yes"}},
      {{"heads", "4"}, {"kv_heads", "1"}, {"width", "16"}, {"context", "4600"}, {"window", "-1"}},
      {{"heads", "4"},
       {"kv_heads", "1"},
       {"width", "2"},
       {"context", "0"},
       {"slack", "24"},
       {"base_offset", "8"}},
  };
  return all;
}

TEST_F(BlockAttentionGpu, EveryMutantIsRejectedByItsBits) {
  for (const CudaMutant& mutant : kCudaTables.mutants) {
    expect_rejected(block_attention(), mutant);
  }
}

TEST_F(BlockAttentionGpu, EveryVariantAndLaunchParameterHasTheBitsOfTheModel) {
  std::vector<Settings> staged = {{}};
  for (const char* skip : {"on", "off"}) {
    for (const char* spill : {"group", "run"}) {
      for (const char* stages : {"2", "3", "4"}) {
        staged.push_back({{"skip", skip}, {"spill", spill}, {"stages", stages}, {"tile", "16"}});
      }
      staged.push_back({{"skip", skip}, {"spill", spill}, {"stages", "2"}, {"tile", "32"}});
    }
  }
  for (const char* batch : {"1", "2", "4", "16"}) {
    staged.push_back({{"merge_batch", batch}, {"tile", "16"}});
  }
  for (const char* sms : {"1", "47", "1024"}) {
    staged.push_back({{"sms", sms}, {"result", "skip"}, {"tile", "16"}});
  }
  std::vector<Settings> warpgroup = {{}, {{"result", "skip"}}};
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    for (const char* sms : {"1", "7", "132"}) {
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"stages", "2"}, {"pairs", "64"}});
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"stages", "3"}, {"pairs", "128"}});
      warpgroup.push_back({{"spill", spill}, {"sms", sms}, {"pairs", "16"}, {"pdl", "off"}});
    }
  }
  for (const Settings& axes : workloads()) {
    expect_wanted_bits(block_attention(), "direct", axes, {{}});
    expect_wanted_bits(block_attention(), "warpgroup", axes, warpgroup);
    expect_wanted_bits(block_attention(), "staged", axes, staged);
  }
}

TEST_F(BlockAttentionGpu, WhatIsLeftOpenIsLaunchedAsTheTableSays) {
  expect_tuned_launches(block_attention());
}

// Small enough for a race checker.
TEST_F(BlockAttentionGpu, RunsEachVariantOnOneWorkload) {
  const Settings axes = {{"heads", "3"}, {"kv_heads", "1"}, {"width", "3"}, {"context", "600"}};
  expect_wanted_bits(block_attention(), "direct", axes, {{}});
  expect_wanted_bits(block_attention(), "staged", axes, {{}, {{"spill", "run"}}});
  expect_wanted_bits(block_attention(), "warpgroup", axes, {{}, {{"spill", "run"}}});
}

TEST_F(BlockAttentionGpu, AGraphCapturedAtOneLengthServesOthers) {
  std::vector<WantedCall> calls;
  for (const char* context : {"5000", "0", "511", "512", "2047", "3000"}) {
    calls.push_back(
        WantedCall::of(block_attention(),
                       {{"heads", "8"}, {"kv_heads", "2"}, {"width", "7"}, {"context", context}}));
  }
  for (const char* skip : {"on", "off"}) {
    for (const char* spill : {"group", "run"}) {
      expect_graph_serves(block_attention(), "staged", {{"skip", skip}, {"spill", spill}}, calls);
    }
  }
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    expect_graph_serves(block_attention(), "warpgroup", {{"spill", spill}}, calls);
  }
  expect_graph_serves(block_attention(), "direct", {}, calls);
}

TEST_F(BlockAttentionGpu, ReadsWhatWasWrittenRightBefore) {
  std::vector<WantedCall> calls;
  for (const char* context : {"5000", "100", "2047"}) {
    calls.push_back(
        WantedCall::of(block_attention(),
                       {{"heads", "8"}, {"kv_heads", "2"}, {"width", "7"}, {"context", context}}));
  }
  for (const char* spill : {"auto", "run", "group", "slice"}) {
    expect_inputs_written_right_before(block_attention(), "warpgroup", {{"spill", spill}}, calls);
  }
  expect_inputs_written_right_before(block_attention(), "staged", {}, calls);
}

TEST_F(BlockAttentionGpu, AHundredRunsBesideOtherWorkHaveTheSameBits) {
  const Settings axes = {{"heads", "8"}, {"kv_heads", "2"}, {"streams", "4"}, {"context", "3000"}};
  expect_same_bits_under_load(block_attention(), "staged", {}, axes);
  expect_same_bits_under_load(block_attention(), "warpgroup", {}, axes);
}

TEST_F(BlockAttentionGpu, NoStreamsLaunchNothing) {
  const WantedCall wanted = WantedCall::of(block_attention(), {{"streams", "0"}});
  DeviceCall device({&wanted, 1});
  for (const CudaVariant& variant : kCudaTables.variants) {
    Trace trace;
    const LaunchParameters parameters = make_parameters(variant.parameters, {});
    run_stages(variant.stages, device.call_of(wanted, parameters, &trace), nullptr);
    EXPECT_TRUE(trace.kernels.empty()) << variant.name;
  }
}

}  // namespace
}  // namespace assay::kernels::block_attention
