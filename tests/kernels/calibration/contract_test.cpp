#include "kernels/calibration/contract.h"

#include "kernels/calibration/problem.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace assay::kernels::calibration {
namespace {

std::string refusal(const std::vector<Setting>& axes) {
  return std::string(validate({.axes = axes}).message());
}

TEST(Contract, NamesTheAxisThatIsOutOfRange) {
  EXPECT_EQ(refusal({{"elements", "0"}}), "elements: `0` is not an integer in [1, 268435456]");
  EXPECT_EQ(refusal({{"steps", "1000001"}}), "steps: `1000001` is not an integer in [0, 1000000]");
  EXPECT_EQ(refusal({{"elements", "67108864"}, {"steps", "1000000"}}), "");
}

TEST(Contract, ParsesBothAxes) {
  const absl::StatusOr<Shape> shape =
      parse_shape({.axes = {{"elements", "67108864"}, {"steps", "1000000"}}});
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->num_elements, std::int64_t{1} << 26);
  EXPECT_EQ(shape->num_rounds, 1'000'000U);
}

Params params_with(const std::string& steps, std::int32_t extra) {
  const std::unique_ptr<Problem> problem = make_problem({.axes = {{"steps", steps}}});
  const std::array<void*, kNumTensors> tensors = {};
  Call call = {
      .problem = problem.get(), .tensors = tensors.data(), .parameters = {}, .trace = nullptr};
  call.parameters.values[kExtra] = extra;
  return params_of(call);
}

TEST(Contract, CutsExtraRoundsToWholeOnes) {
  EXPECT_EQ(params_with("49", 20).num_extra_rounds, 0U);
  EXPECT_EQ(params_with("50", 20).num_extra_rounds, 1U);
  EXPECT_EQ(params_with("2800", 20).num_extra_rounds, 56U);
  EXPECT_EQ(params_with("1000000", 1'000).num_extra_rounds, 1'000'000U);
  EXPECT_EQ(params_with("0", 1'000).num_extra_rounds, 0U);
  EXPECT_EQ(params_with("50", 20).num_rounds, 50U);
  EXPECT_EQ(params_with("50", 20).nothing, 0U);
}

}  // namespace
}  // namespace assay::kernels::calibration
