#include "profiler/warm_up.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

BlockTimes batch(std::uint32_t num_calls, std::int64_t call_ns) {
  BlockTimes times;
  times.block.set_num_calls(num_calls);
  v1::StageSamples& total = times.stages.emplace_back();
  total.set_stage("total");
  for (std::uint32_t call = 0; call < num_calls; ++call) {
    total.add_samples_ns(call_ns);
  }
  return times;
}

TEST(WarmUp, GoesOnWhileTimesChange) {
  WarmUp warm_up(1000, 100'000, 0);
  warm_up.add(batch(1, 500), 600);
  warm_up.add(batch(3, 300), 1500);
  EXPECT_FALSE(warm_up.is_done(1500));
  warm_up.add(batch(3, 299), 2400);
  EXPECT_TRUE(warm_up.is_done(2400));
  EXPECT_EQ(warm_up.call_ns(), 299);
}

TEST(WarmUp, EndsAtItsMostTimeWhateverHappens) {
  WarmUp warm_up(1000, 5000, 0);
  warm_up.add(batch(1, 500), 600);
  EXPECT_FALSE(warm_up.is_done(600));
  EXPECT_TRUE(warm_up.is_done(5000));
}

TEST(WarmUp, TakesAtLeastItsLeastTimeThoughStable) {
  WarmUp warm_up(1000, 5000, 0);
  warm_up.add(batch(1, 100), 100);
  warm_up.add(batch(3, 100), 400);
  EXPECT_FALSE(warm_up.is_done(400));
  EXPECT_TRUE(warm_up.is_done(1000));
}

TEST(WarmUp, SizesItsBatchesByTimeNotByCount) {
  WarmUp warm_up(1'000'000, 5'000'000, 0);
  EXPECT_EQ(warm_up.next_calls(), 1U);
  warm_up.add(batch(1, 900), 1000);
  EXPECT_EQ(warm_up.next_calls(), 250U);
}

TEST(WarmUp, SaysWhatItDid) {
  WarmUp warm_up(1000, 100'000'000, 0);
  warm_up.add(batch(1000, 1000), 1'000'000);
  warm_up.add(batch(1000, 1010), 2'000'000);
  EXPECT_EQ(warm_up.account(), "2,000 calls in 2 ms, last two batches within 1.0 %");
}

}  // namespace
}  // namespace assay::profiler
