#include "profiler/block_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kMillisecond_ns = 1'000'000;

DeviceLimits limits() {
  return {.cache_bytes = 60 * kMebibyte, .rotation_bytes = 4096 * kMebibyte};
}

std::uint32_t calls(std::uint32_t asked, std::int64_t call_ns, std::int64_t num_sets) {
  const auto planned = calls_a_replay(asked, call_ns, {.num_sets = num_sets});
  EXPECT_TRUE(planned.ok()) << planned.status();
  return planned.value_or(0);
}

TEST(BlockPlan, FlushesWhereTheRotationDoesNotFit) {
  const SetsPlan sets = plan_sets(v1::COLD, kMebibyte, 20 * kMebibyte, limits());
  EXPECT_TRUE(sets.flush);
  EXPECT_EQ(sets.num_sets, 240);
  EXPECT_EQ(calls_a_replay(0, 0, sets).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(BlockPlan, FlushesRatherThanRotateOverThousandsOfSmallSets) {
  const SetsPlan sets = plan_sets(v1::COLD, 2'048, 2'048, limits());
  EXPECT_TRUE(sets.flush);
  EXPECT_FALSE(plan_sets(v1::COLD, 256 << 10, 256 << 10, limits()).flush);
}

TEST(BlockPlan, TracesABlockOfWholeRotationsOrOfFlushes) {
  EXPECT_EQ(calls_a_traced_replay(0, 1'000, {.num_sets = 7}), 21U);
  EXPECT_EQ(calls_a_traced_replay(0, 1'000, {.num_sets = 240}), 240U);
  EXPECT_EQ(calls_a_traced_replay(0, 1'000, {.num_sets = 5'000, .flush = true}), 20U);
}

TEST(BlockPlan, RotatesOverFourTimesTheCache) {
  EXPECT_EQ(plan_sets(v1::HOT, kMebibyte, kMebibyte, limits()).num_sets, 1);
  EXPECT_EQ(plan_sets(v1::COLD, kMebibyte, kMebibyte, limits()).num_sets, 240);
  EXPECT_EQ(plan_sets(v1::COLD, 7 * kMebibyte, 7 * kMebibyte, limits()).num_sets, 35);
  EXPECT_EQ(plan_sets(v1::COLD, 1024 * kMebibyte, 1024 * kMebibyte, limits()).num_sets, 2);
}

TEST(BlockPlan, CountsOnlyWhatACallMustMove) {
  EXPECT_EQ(plan_sets(v1::COLD, 7 * kMebibyte, 70 * kMebibyte, limits()).num_sets, 35);
  EXPECT_EQ(plan_sets(v1::COLD, 70 * kMebibyte, 7 * kMebibyte, limits()).num_sets, 35);
}

TEST(BlockPlan, CallsFewerTimesWhenCallsAreSlow) {
  EXPECT_EQ(calls_a_block(0, 0), 20U);
  EXPECT_EQ(calls_a_block(0, 5 * kMillisecond_ns), 20U);
  EXPECT_EQ(calls_a_block(0, 10 * kMillisecond_ns), 10U);
  EXPECT_EQ(calls_a_block(0, 1000 * kMillisecond_ns), 3U);
  EXPECT_EQ(calls_a_block(7, 1000 * kMillisecond_ns), 7U);
  EXPECT_EQ(calls_a_block(20'000, 1), 10'000U);
}

TEST(BlockPlan, HasAtLeastTwentyCallsInABlockOfReplays) {
  EXPECT_EQ(kReplays * calls(0, 5 * kMillisecond_ns, 1), 20U);
  EXPECT_EQ(kReplays * calls(21, 5 * kMillisecond_ns, 1), 25U);
}

TEST(BlockPlan, MakesAReplayLongBesideAnEvent) {
  EXPECT_EQ(calls(0, 6'000, 1), 250U);
  EXPECT_EQ(calls(0, 7'000, 1), 215U);
  EXPECT_EQ(calls(0, 1, 1), 10'000U);
}

TEST(BlockPlan, HoldsWholeRotations) {
  EXPECT_EQ(calls(0, 6'000, 223), 446U);
  EXPECT_EQ(calls(0, 0, 223), 223U);
  EXPECT_EQ(calls(0, 1, 223), 9'812U);
  EXPECT_EQ(calls(0, 1000 * kMillisecond_ns, 2), 2U);
}

TEST(BlockPlan, DividesAReplayIntoItsCalls) {
  EXPECT_EQ(mean_call_ns(1'500'000, 250), 6'000);
  EXPECT_EQ(mean_call_ns(1'500'124, 250), 6'000);
  EXPECT_EQ(mean_call_ns(1'500'125, 250), 6'001);
  EXPECT_EQ(mean_call_ns(0, 250), 0);
  EXPECT_EQ(mean_call_ns(-5, 250), 0);
}

}  // namespace
}  // namespace assay::profiler
