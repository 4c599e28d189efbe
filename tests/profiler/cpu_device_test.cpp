#include "tests/profiler/catalogue_checks.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

constexpr std::int64_t kSmallCache_bytes = 64 << 10;

TEST(CpuDevice, RejectsEveryMutantOfTheCatalogue) {
  expect_mutants_rejected(*make_cpu_device(kSmallCache_bytes));
}

TEST(CpuDevice, CarriesAConfigurationOfEveryOperatorHot) {
  expect_configuration_carried(*make_cpu_device(kSmallCache_bytes), v1::HOT);
}

TEST(CpuDevice, CarriesAConfigurationOfEveryOperatorCold) {
  expect_configuration_carried(*make_cpu_device(kSmallCache_bytes), v1::COLD);
}

TEST(CpuDevice, SaysWhatItIs) {
  const v1::Device device = make_cpu_device(kSmallCache_bytes)->description();
  EXPECT_TRUE(device.available());
  EXPECT_EQ(device.l2_bytes(), kSmallCache_bytes);
  EXPECT_TRUE(device.uuid().starts_with("CPU-")) << device.uuid();
  EXPECT_EQ(device.uuid(), make_cpu_device(2 * kSmallCache_bytes)->description().uuid());
  EXPECT_FALSE(device.code_version().empty());
  EXPECT_NE(device.build_flags().find("-ffp-contract=off"), std::string::npos);
  EXPECT_EQ(device.build_flags().find('/'), std::string::npos);
  EXPECT_FALSE(device.capabilities(0).reason().empty());
}

}  // namespace
}  // namespace assay::profiler
