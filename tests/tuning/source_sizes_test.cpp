#include "tuning/source_sizes.h"

#include "proto/text.h"
#include "tests/tuning/source_fixture.h"
#include "tuning/source_spec.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace assay::tuning {
namespace {

SourceSettings axes_of(std::int64_t n) {
  SourceSettings axes;
  axes.Add()->set_name("n");
  axes[0].set_value(std::to_string(n));
  return axes;
}

v1::Arm arm(const std::string& text) {
  return *proto::parse_arm(text);
}

v1::SourceSpec complete() {
  return complete_source(scaled_sum());
}

std::string error_of(const v1::SourceSpec& spec, std::int64_t n, const std::string& text) {
  return source_stages(spec, axes_of(n), arm(text)).status().ToString();
}

TEST(SourceSizes, NamesFieldAndValuesOfWhatCannotBeLaunched) {
  v1::SourceSpec spec = complete();
  v1::SourceStage& stage = *spec.mutable_variants(0)->mutable_stages(0);
  stage.set_grid(1, "n // block - 7");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "INVALID_ARGUMENT: stage sum.grid.y: `n // block - 7` is 0, expected an integer of at "
            "least 1 (n=1000, block=128)");
  stage.set_grid(1, "n * 100");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "RESOURCE_EXHAUSTED: stage sum.grid.y: `n * 100` is 100000, the limit is 65535 "
            "(n=1000)");
  stage.set_grid(1, "1");
  stage.set_block(1, "16");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "RESOURCE_EXHAUSTED: stage sum.block: 128 x 16 x 1 are 2048 threads, the limit is "
            "1024");
  stage.set_block(1, "1");
  stage.set_grid(0, "n / 3");
  EXPECT_NE(error_of(spec, 1000, "plain").find("expected an integer"), std::string::npos);
  EXPECT_EQ(error_of(spec, 1000, "plane"), "NOT_FOUND: variant: no `plane`; there is plain, wide");
  EXPECT_EQ(error_of(spec, 1000, "wide:block=64"),
            "NOT_FOUND: parameters of wide: no `block`; there is none");
  EXPECT_EQ(source_stages(spec, {}, arm("plain")).status().message(), "axes: `n` needs an integer");
}

TEST(SourceSizes, RefusesScalarsThatTheirTypeCannotHold) {
  v1::SourceSpec spec = complete();
  v1::SourceArgument& scalar = *spec.mutable_variants(0)->mutable_stages(0)->mutable_arguments(3);
  scalar.set_dtype("u8");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "INVALID_ARGUMENT: stage sum.arguments[3].value: 1000 is beyond u8");
  scalar.set_value("n / 8");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "INVALID_ARGUMENT: stage sum.arguments[3].value: 125.0 is no integer for u8");
  scalar.set_dtype("f16");
  scalar.set_value("65520.0");
  EXPECT_EQ(error_of(spec, 1000, "plain"),
            "INVALID_ARGUMENT: stage sum.arguments[3].value: 65520.0 is beyond f16");
}

TEST(SourceSizes, RefusesShapesOfMoreElementsThanAnyDeviceHolds) {
  v1::SourceSpec spec = complete();
  spec.mutable_tensors(0)->add_shape("n * n * n");
  EXPECT_EQ(source_shapes(spec, axes_of(1 << 13)).status().ToString(),
            "RESOURCE_EXHAUSTED: tensor a: shape[1]: more than 1099511627775 elements, the limit");
  EXPECT_EQ(source_shapes(spec, axes_of(1 << 20)).status().code(),
            absl::StatusCode::kResourceExhausted);
  spec.mutable_tensors(0)->set_shape(1, "0 - n");
  EXPECT_EQ(source_shapes(spec, axes_of(5)).status().ToString(),
            "INVALID_ARGUMENT: tensor a: shape[1]: `0 - n` is -5, expected an integer of at least "
            "0 (n=5)");
}

TEST(SourceSizes, FollowWorkloadAndArm) {
  const v1::SourceSpec spec = complete();
  const auto shapes = source_shapes(spec, axes_of(1000));
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  EXPECT_EQ(*shapes, std::vector<std::vector<std::int64_t>>(3, {1000}));
  const auto stages = source_stages(spec, axes_of(1000), arm("plain:block=64"));
  ASSERT_TRUE(stages.ok()) << stages.status();
  ASSERT_EQ(stages->size(), 1U);
  const StageSizes& sizes = stages->front();
  EXPECT_EQ(sizes.grid, (std::array<std::uint32_t, 3>{16, 1, 1}));
  EXPECT_EQ(sizes.block, (std::array<std::uint32_t, 3>{64, 1, 1}));
  EXPECT_EQ(sizes.shared_bytes, 0);
  ASSERT_EQ(sizes.scalars.size(), 5U);
  EXPECT_TRUE(sizes.scalars[0].empty());
  std::int32_t n = 0;
  float alpha = 0;
  ASSERT_EQ(sizes.scalars[3].size(), sizeof n);
  std::memcpy(&n, sizes.scalars[3].data(), sizeof n);
  std::memcpy(&alpha, sizes.scalars[4].data(), sizeof alpha);
  EXPECT_EQ(n, 1000);
  EXPECT_EQ(alpha, 0.5F);
  const auto wide = source_stages(spec, axes_of(4096), arm("wide"));
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->front().grid[0], 5U);
  EXPECT_EQ(wide->front().shared_bytes, 1024);
}

TEST(SourceSizes, UseTheDefaultOfAParameterThatIsLeftOpen) {
  const auto stages = source_stages(complete(), axes_of(1000), arm("plain"));
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->front().block[0], 128U);
}

}  // namespace
}  // namespace assay::tuning
