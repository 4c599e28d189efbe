#include "profiler/nvml.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

TEST(Nvml, DisqualifiesHeatAndHardwareButNotThePowerCap) {
  EXPECT_EQ(disqualifying_text(0x4), "");
  EXPECT_EQ(disqualifying_text(0x1), "");
  EXPECT_EQ(disqualifying_text(0x4 | 0x20), "software thermal slowdown");
  EXPECT_EQ(disqualifying_text(0x8 | 0x40), "hardware slowdown, hardware thermal slowdown");
  EXPECT_EQ(disqualifying_text(0x80), "hardware power brake");
}

TEST(Nvml, NamesEveryReasonButIdleness) {
  EXPECT_EQ(throttle_text(0), "");
  EXPECT_EQ(throttle_text(0x1), "");
  EXPECT_EQ(throttle_text(0x4 | 0x8), "power cap, hardware slowdown");
}

}  // namespace
}  // namespace assay::profiler
