#include "profiler/nvml.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(Nvml, CountsOtherProcessesWhateverTheirNumbersMean) {
  constexpr std::uint32_t kOwn = 7;
  const auto others = [](std::vector<std::uint32_t> ids) { return count_others(ids, kOwn); };
  EXPECT_EQ(others({}), 0U);
  EXPECT_EQ(others({7}), 0U);
  EXPECT_EQ(others({7, 9}), 1U);
  EXPECT_EQ(others({4711}), 0U);
  EXPECT_EQ(others({4711, 4712}), 1U);
}

}  // namespace
}  // namespace assay::profiler
