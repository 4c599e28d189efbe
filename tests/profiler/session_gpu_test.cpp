#include "tests/profiler/catalogue_checks.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

class SessionGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = make_cuda_device(0);
    if (!device.ok()) {
      GTEST_SKIP() << "no CUDA device: " << device.status();
    }
    device_ = *std::move(device);
  }

  std::unique_ptr<Device> device_;
};

TEST_F(SessionGpuTest, TimesKernelsByActivityAndKnowsItsClocks) {
  const v1::Device description = device_->description();
  for (const v1::Capability& capability : description.capabilities()) {
    EXPECT_TRUE(capability.available()) << capability.name() << ": " << capability.reason();
  }
  EXPECT_EQ(device_->limits().timing_source, v1::CUPTI_ACTIVITY);
}

TEST_F(SessionGpuTest, RejectsEveryMutantOfTheCatalogue) {
  expect_mutants_rejected(*device_);
}

TEST_F(SessionGpuTest, CarriesAConfigurationOfEveryOperatorHot) {
  expect_configuration_carried(*device_, v1::HOT);
}

TEST_F(SessionGpuTest, CarriesAConfigurationOfEveryOperatorCold) {
  expect_configuration_carried(*device_, v1::COLD);
}

TEST_F(SessionGpuTest, HasAReadCeilingThatADeviceCanHave) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  const auto floor_ns = device_->floor_ns(kGibibyte);
  ASSERT_TRUE(floor_ns.ok()) << floor_ns.status();
  // Between 100 GB/s and 20 TB/s.
  EXPECT_GT(*floor_ns, kGibibyte / 20'000);
  EXPECT_LT(*floor_ns, kGibibyte / 100);
}

}  // namespace
}  // namespace assay::profiler
