#include "profiler/admission.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

constexpr std::int64_t kEnd_ns = 1'000;

v1::Block at_clock(std::uint32_t mhz) {
  v1::Block block;
  block.set_sm_clock_mhz(mhz);
  block.set_wanted_sm_clock_mhz(1'980);
  return block;
}

TEST(Admission, WaitsForFourBlocksAtOneClock) {
  Admission admission(kEnd_ns);
  EXPECT_FALSE(admission.is_over(0));
  for (const std::uint32_t mhz : {345U, 1'200U, 1'965U, 1'980U, 1'980U}) {
    admission.add(at_clock(mhz));
    EXPECT_FALSE(admission.is_over(0)) << mhz;
  }
  admission.add(at_clock(1'965));
  EXPECT_TRUE(admission.is_over(0));
  const v1::Admission account = admission.account(7);
  EXPECT_TRUE(account.stable());
  EXPECT_EQ(account.waited_ns(), 7);
  EXPECT_EQ(account.sm_clock_mhz(), 1'965U);
  EXPECT_EQ(account.wanted_sm_clock_mhz(), 1'980U);
}

TEST(Admission, GivesUpAtTheEndOfItsBudgetAndSaysWhatMoved) {
  Admission admission(kEnd_ns);
  for (const std::uint32_t mhz : {1'980U, 1'200U, 1'980U, 1'200U}) {
    admission.add(at_clock(mhz));
  }
  EXPECT_FALSE(admission.is_over(kEnd_ns - 1));
  EXPECT_TRUE(admission.is_over(kEnd_ns));
  const v1::Admission account = admission.account(kEnd_ns);
  EXPECT_FALSE(account.stable());
  EXPECT_EQ(account.detail(), "the clock still moved between 1,200 and 1,980 MHz");
}

TEST(Admission, DoesNotLetAHotDeviceIn) {
  Admission admission(kEnd_ns);
  v1::Block hot = at_clock(1'200);
  hot.set_disqualified(true);
  hot.set_disqualified_because("hardware thermal slowdown");
  for (int i = 0; i < 4; ++i) {
    admission.add(hot);
  }
  EXPECT_FALSE(admission.is_over(0));
  EXPECT_EQ(admission.account(0).detail(), "still held back by hardware thermal slowdown");
}

TEST(Admission, AsksNothingOfADeviceThatTellsNoClock) {
  Admission admission(kEnd_ns);
  EXPECT_FALSE(admission.is_over(0));
  admission.add(v1::Block());
  EXPECT_TRUE(admission.is_over(0));
  EXPECT_EQ(admission.account(0).detail(), "the device tells no clock");
}

}  // namespace
}  // namespace assay::profiler
