#include "profiler/noise_floor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::profiler {
namespace {

constexpr std::int64_t kDayNs = std::int64_t{24} * 3'600 * 1'000'000'000;

v1::Device device() {
  v1::Device device;
  device.set_uuid("GPU-1");
  device.set_driver_version("580");
  device.set_toolkit_version("13.0");
  device.set_code_version("0.1.0");
  return device;
}

v1::Verdict control(double low, double high) {
  v1::Verdict verdict;
  verdict.set_identical_code(true);
  verdict.set_reason("undecided: too few rounds");
  verdict.add_stages()->set_stage("merge");
  v1::StageVerdict& total = *verdict.add_stages();
  total.set_stage("total");
  total.set_has_ratio(true);
  total.set_ratio_low(low);
  total.set_ratio_high(high);
  total.set_num_rounds(24);
  return verdict;
}

TEST(NoiseFloor, IsTheFarEndOfTheIntervalOnEitherSide) {
  const auto above = noise_floor_of({}, device(), control(0.999, 1.004), 7);
  ASSERT_TRUE(above.ok()) << above.status();
  EXPECT_NEAR(above->noise_floor(), 0.004, 1e-12);
  EXPECT_EQ(above->measured_ns(), 7);
  EXPECT_EQ(above->num_rounds(), 24U);
  EXPECT_EQ(above->driver_version(), "580");
  const auto below = noise_floor_of({}, device(), control(0.98, 1.004), 7);
  ASSERT_TRUE(below.ok());
  EXPECT_NEAR(below->noise_floor(), 1 / 0.98 - 1, 1e-12);
}

TEST(NoiseFloor, ComesOfAControlWithARatioOnly) {
  v1::Verdict verdict = control(0.999, 1.004);
  verdict.mutable_stages(1)->set_has_ratio(false);
  EXPECT_EQ(noise_floor_of({}, device(), verdict, 7).status(),
            absl::FailedPreconditionError("undecided: too few rounds"));
  verdict = control(0.999, 1.004);
  verdict.set_identical_code(false);
  EXPECT_EQ(noise_floor_of({}, device(), verdict, 7).status(),
            absl::FailedPreconditionError("the arms are not identical code"));
}

TEST(NoiseFloor, HasTheModesOfTheMeasurementInItsKey) {
  v1::Configuration configuration;
  configuration.mutable_workload()->set_seed(3);
  configuration.mutable_baseline()->set_cache_mode(v1::COLD);
  configuration.mutable_baseline()->set_launch_mode(v1::GRAPH);
  configuration.mutable_baseline()->set_timing_source(v1::CUDA_EVENTS);
  const v1::NoiseFloor key = noise_floor_key(device(), "op", configuration);
  EXPECT_EQ(key.device_uuid(), "GPU-1");
  EXPECT_EQ(key.operator_name(), "op");
  EXPECT_EQ(key.workload(), "seed=3");
  EXPECT_EQ(key.cache_mode(), v1::COLD);
  EXPECT_EQ(key.launch_mode(), v1::GRAPH);
  EXPECT_EQ(key.timing_source(), v1::CUDA_EVENTS);
}

TEST(NoiseFloor, SaysWhatMadeItStale) {
  const auto floor = noise_floor_of({}, device(), control(0.999, 1.004), 0);
  ASSERT_TRUE(floor.ok());
  EXPECT_EQ(why_stale(*floor, device(), kFreshNoiseNs), "");
  EXPECT_EQ(why_stale(*floor, device(), 45 * kDayNs), "it is 45 days old");
  v1::Device other = device();
  other.set_driver_version("590");
  other.set_code_version("");
  EXPECT_EQ(why_stale(*floor, other, 0),
            "the driver was 580, now 590; the code was 0.1.0, now unknown");
}

}  // namespace
}  // namespace assay::profiler
