#include "tests/profiler/catalogue_checks.h"

#include <gtest/gtest.h>

#include <string>

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

TEST_F(SessionGpuTest, CarriesAGraphOfEveryOperatorHot) {
  expect_configuration_carried(*device_, v1::HOT, v1::GRAPH);
}

TEST_F(SessionGpuTest, CarriesAGraphOfEveryOperatorCold) {
  expect_configuration_carried(*device_, v1::COLD, v1::GRAPH);
}

TEST_F(SessionGpuTest, RefusesToCaptureALauncherThatAllocatesAndStaysSound) {
  ArmPlan arm;
  arm.arm.set_variant("allocating");
  arm.stages.emplace_back().name = "only";
  arm.stages[0].launch = [this](const kernels::Call& /*call*/) {
    return device_->allocate(1 << 20).status();
  };
  void* const* const no_tensors = nullptr;
  const BlockRequest request = {
      .arm = &arm, .sets = {&no_tensors, 1}, .num_calls = 2, .label = "baseline"};
  const auto refused = device_->capture(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  const std::string message(refused.status().message());
  EXPECT_EQ(message.find("launch_mode: the calls of `allocating` cannot be captured"), 0U);
  EXPECT_NE(message.find("cudaErrorStreamCapture"), std::string::npos) << message;

  EXPECT_TRUE(device_->allocate(1 << 20).ok());
  arm.stages[0].launch = [](const kernels::Call& /*call*/) { return absl::OkStatus(); };
  const auto empty = device_->capture(request);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE((*empty)->time_replays(2).ok());
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
