#include "profiler/arm_plan.h"

#include <gtest/gtest.h>

#include <array>

namespace assay::profiler {
namespace {

absl::Status launch(const kernels::Call& /*call*/) {
  return absl::OkStatus();
}

bool leaves_second(const kernels::LaunchParameters& parameters, std::size_t tensor) {
  return parameters.values[0] > 1 && tensor == 2;
}

constexpr std::array<kernels::Stage<kernels::CpuLaunch>, 1> kStages = {
    {{.name = "only", .launch = launch}}};
constexpr std::array<kernels::AxisInfo, 1> kParameters = {
    {{.name = "spill", .help = "", .default_value = "1", .min = 1, .max = 2}}};
constexpr std::array<kernels::CpuVariant, 3> kVariants = {
    {{.name = "direct", .idea = "", .stages = kStages},
     {.name = "modern",
      .idea = "",
      .parameters = kParameters,
      .stages = kStages,
      .min_compute_capability = 80,
      .leaves = leaves_second,
      .bits_domain = "sm_90"},
     {.name = "hw_exp", .idea = "", .family = "hw_exp", .stages = kStages}}};
constexpr std::array<kernels::CpuMutant, 1> kMutants = {
    {{.name = "planted", .defect = "", .variant = "modern", .stages = kStages}}};

StagePlan bind(const kernels::Stage<kernels::CpuLaunch>& stage) {
  StagePlan plan;
  plan.launch = stage.launch;
  return plan;
}

v1::Arm arm_of(const std::string& variant, const std::string& spill) {
  v1::Arm arm;
  arm.set_variant(variant);
  if (!spill.empty()) {
    v1::Setting& parameter = *arm.add_parameters();
    parameter.set_name("spill");
    parameter.set_value(spill);
  }
  return arm;
}

absl::StatusOr<ArmPlan> plan(const v1::Arm& arm, int compute_capability) {
  return plan_variant(
      std::span<const kernels::CpuVariant>(kVariants), arm, compute_capability, bind);
}

absl::StatusOr<ArmPlan> plan_planted(int compute_capability) {
  return plan_mutant_row(std::span<const kernels::CpuMutant>(kMutants),
                         std::span<const kernels::CpuVariant>(kVariants),
                         "planted",
                         compute_capability,
                         bind);
}

TEST(ArmPlan, SaysThatADeviceIsTooOldForAVariantOrForAMutantOfIt) {
  const absl::Status too_old = plan(arm_of("modern", ""), 75).status();
  EXPECT_EQ(too_old.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(too_old.message()),
            "`modern` needs compute capability 8.0, the device has 7.5");
  EXPECT_EQ(plan_planted(75).status().message(),
            "`planted` needs compute capability 8.0, the device has 7.5");
  EXPECT_TRUE(plan(arm_of("modern", ""), 80).ok());
  EXPECT_TRUE(plan_planted(120).ok());
}

TEST(ArmPlan, KnowsByTheParametersWhatAFormLeaves) {
  EXPECT_FALSE(plan(arm_of("direct", ""), 90)->leaves_unwritten(2));
  EXPECT_FALSE(plan(arm_of("modern", "1"), 90)->leaves_unwritten(2));
  EXPECT_TRUE(plan(arm_of("modern", "2"), 90)->leaves_unwritten(2));
  EXPECT_FALSE(plan(arm_of("modern", "2"), 90)->leaves_unwritten(1));
}

TEST(ArmPlan, GivesEachVariantItsBitsDomain) {
  const BitsDomains hopper = {.architecture = "sm_90", .own_family = "sm_90+13.0"};
  const auto domain = [&](std::string_view row, std::string_view family, std::string_view op) {
    return bits_domain_of(row, family, op, hopper);
  };
  EXPECT_EQ(domain("", "baseline", "any_device"), "any_device");
  EXPECT_EQ(domain("", "baseline", "architecture"), "sm_90");
  EXPECT_EQ(domain("cpu", "baseline", "architecture"), "cpu");
  EXPECT_EQ(domain("", "hw_exp", "any_device"), "sm_90+13.0");
  EXPECT_EQ(domain("architecture", "hw_exp", "any_device"), "sm_90");
}

TEST(ArmPlan, DescribesTheOperatorsDomainAsTheBaselines) {
  v1::OperatorInfo info;
  info.set_bits_domain("architecture");
  describe_rows(std::span<const kernels::CpuVariant>(kVariants),
                std::span<const kernels::CpuMutant>(kMutants),
                {.architecture = "sm_80", .own_family = "sm_80+13.0"},
                info);
  ASSERT_EQ(info.variants_size(), 3);
  EXPECT_EQ(info.variants(0).bits_domain(), "sm_80");
  EXPECT_EQ(info.variants(1).bits_domain(), "sm_90");
  EXPECT_EQ(info.variants(1).min_compute_capability(), "8.0");
  EXPECT_EQ(info.variants(2).bits_domain(), "sm_80+13.0");
  EXPECT_EQ(info.bits_domain(), "sm_80");
}

}  // namespace
}  // namespace assay::profiler
