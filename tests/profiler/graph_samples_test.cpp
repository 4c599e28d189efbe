#include "profiler/rounds.h"
#include "profiler/verdict.h"
#include "tests/profiler/scripted.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

constexpr std::uint32_t kReplays = 5;
constexpr std::uint32_t kCallsPerReplay = 40;

// Blocks as a graph leaves them: a sample a replay.
v1::Configuration replayed(std::uint32_t num_rounds, const Duration& duration) {
  v1::Configuration configuration = equal_arms();
  add_rounds(&configuration, num_rounds, duration, v1::BAB, kReplays);
  for (const ArmRole role : {ArmRole::kBaseline, ArmRole::kCandidate}) {
    v1::Measurement* arm = arm_of(&configuration, role);
    arm->set_timing_source(v1::CUDA_EVENTS);
    arm->set_launch_mode(v1::GRAPH);
    for (v1::Block& block : *arm->mutable_blocks()) {
      block.set_num_calls(kReplays * kCallsPerReplay);
      block.set_calls_per_sample(kCallsPerReplay);
    }
  }
  return configuration;
}

std::int64_t a_tenth_faster(const Call& call) {
  return call.arm == ArmRole::kCandidate ? 9'000 : 10'000;
}

TEST(GraphSamples, RefusesAsManySamplesAsCalls) {
  v1::Configuration configuration = replayed(12, a_tenth_faster);
  v1::StageSamples* total = stage_of(configuration.mutable_baseline(), "total");
  while (total->samples_ns_size() < 12 * static_cast<int>(kReplays * kCallsPerReplay)) {
    total->add_samples_ns(10'000);
  }
  const ArmTimes times = arm_times(configuration.baseline(), "total");
  EXPECT_EQ(times.fault, "2,400 samples of the stage `total` for 60 replays");
}

TEST(GraphSamples, NeverComparesAGraphWithAStream) {
  v1::Configuration configuration = replayed(12, a_tenth_faster);
  configuration.mutable_candidate()->set_launch_mode(v1::STREAM);
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_NE(verdict.reason().find("launch modes differ"), std::string::npos) << verdict.reason();
}

TEST(GraphSamples, RefusesAMeanCallThatIsFasterThanTheBytesAllow) {
  v1::Configuration configuration = replayed(12, a_tenth_faster);
  configuration.mutable_candidate()->set_cache_mode(v1::COLD);
  configuration.mutable_baseline()->set_cache_mode(v1::COLD);
  configuration.mutable_candidate()->set_floor_ns(10'001);
  const ArmTimes times = arm_times(configuration.candidate(), "total");
  EXPECT_EQ(times.num_too_fast, 24 * kReplays);
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_NE(verdict.reason().find("faster than the device can read the bytes"), std::string::npos)
      << verdict.reason();
}

TEST(GraphSamples, TakesAMeanCallAtNineTenthsOfTheFloorForOne) {
  v1::Configuration configuration = replayed(12, a_tenth_faster);
  configuration.mutable_candidate()->set_cache_mode(v1::COLD);
  configuration.mutable_candidate()->set_floor_ns(10'000);
  EXPECT_EQ(arm_times(configuration.candidate(), "total").num_too_fast, 0U);
}

TEST(GraphSamples, PutsEachReplayIntoItsBlock) {
  const auto duration = [](const Call& call) {
    return std::int64_t{1000} * (call.round + 1) + call.leg;
  };
  const ArmTimes times = arm_times(replayed(3, duration).candidate(), "total");
  ASSERT_EQ(times.blocks.size(), 6U);
  EXPECT_EQ(times.num_samples, 6 * kReplays);
  for (const TimedBlock& block : times.blocks) {
    EXPECT_TRUE(block.good);
    EXPECT_EQ(block.samples_ns.size(), kReplays);
    EXPECT_EQ(block.median_ns, 1000.0 * (block.round + 1) + block.leg);
  }
}

TEST(GraphSamples, JudgesReplaysAsItJudgesCalls) {
  const v1::Verdict verdict = judge(replayed(12, a_tenth_faster), {});
  EXPECT_EQ(verdict.verdict(), v1::FASTER) << verdict.reason();
  EXPECT_EQ(verdict.stages(0).candidate_median_ns(), 9'000);
}

}  // namespace
}  // namespace assay::profiler
