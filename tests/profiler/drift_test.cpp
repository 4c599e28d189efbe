#include "profiler/drift.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace assay::profiler {
namespace {

template <class T>
std::optional<v1::Drift> drift_of(const TensorLayout& layout,
                                  const std::vector<T>& expected,
                                  const std::vector<T>& found) {
  return find_drift(layout,
                    reinterpret_cast<const std::byte*>(expected.data()),
                    reinterpret_cast<const std::byte*>(found.data()));
}

constexpr std::uint32_t kOne = 0x3f800000U;
constexpr std::uint32_t kMinusZero = 0x80000000U;
constexpr std::uint32_t kNan = 0x7fc00000U;

TEST(Drift, IsNoneOfEqualBytesEvenOfNans) {
  const std::vector<std::uint32_t> bits = {kNan, kMinusZero, kOne, 0};
  EXPECT_FALSE(drift_of(whole_tensor("out", "f32", {4}), bits, bits).has_value());
}

TEST(Drift, CallsAMinusZeroTheSignOfZeroOnly) {
  std::vector<std::uint32_t> expected(1024, 0);
  std::vector<std::uint32_t> found = expected;
  found[17] = found[900] = kMinusZero;
  const auto drift = drift_of(whole_tensor("out", "f32", {32, 32}), expected, found);
  ASSERT_TRUE(drift.has_value());
  EXPECT_EQ(drift->drift_class(), v1::SIGN_OF_ZERO);
  EXPECT_EQ(drift->num_differing(), 2);
  EXPECT_EQ(drift->max_ulp(), 0U);
  EXPECT_EQ(describe(*drift),
            "2 of 1,024 elements of `out` differ, first out[0, 17]: expected 0x00000000 (0), found "
            "0x80000000 (-0), sign of zero only");
}

TEST(Drift, CallsOtherNanBitsThePayloadOnly) {
  const auto drift =
      drift_of<std::uint32_t>(whole_tensor("out", "f32", {2}), {kNan, kOne}, {kNan + 1, kOne});
  ASSERT_TRUE(drift.has_value());
  EXPECT_EQ(drift->drift_class(), v1::NAN_PAYLOAD);
  EXPECT_EQ(drift->first_index(0), 0);
  EXPECT_EQ(drift->found_bits(), "0x7fc00001");
  EXPECT_EQ(drift->found_value(), "nan");
}

TEST(Drift, MeasuresUlpsAcrossZero) {
  const auto drift = drift_of<std::uint32_t>(
      whole_tensor("out", "f32", {3}), {kOne, 1, 5}, {kOne + 3, kMinusZero + 1, 5});
  ASSERT_TRUE(drift.has_value());
  EXPECT_EQ(drift->drift_class(), v1::ULP_SIZED);
  EXPECT_EQ(drift->max_ulp(), 3U);
  const auto across =
      drift_of<std::uint32_t>(whole_tensor("out", "f32", {1}), {2}, {kMinusZero + 2});
  EXPECT_EQ(across->max_ulp(), 4U);
}

TEST(Drift, IsLargeFrom1025UlpAndBetweenANanAndANumber) {
  const TensorLayout layout = whole_tensor("out", "f32", {1});
  EXPECT_EQ(drift_of<std::uint32_t>(layout, {kOne}, {kOne + 1024})->drift_class(), v1::ULP_SIZED);
  EXPECT_EQ(drift_of<std::uint32_t>(layout, {kOne}, {kOne + 1025})->drift_class(), v1::LARGE);
  EXPECT_EQ(drift_of<std::uint32_t>(layout, {0x7f800000U}, {0x7f800001U})->drift_class(),
            v1::LARGE);
}

TEST(Drift, OfBothZeroSignsAndNansIsNeitherOnly) {
  const auto drift =
      drift_of<std::uint32_t>(whole_tensor("out", "f32", {2}), {0, kNan}, {kMinusZero, kNan + 1});
  EXPECT_EQ(drift->drift_class(), v1::ULP_SIZED);
}

TEST(Drift, ReadsHalvesAndIntegers) {
  const auto half =
      drift_of<std::uint16_t>(whole_tensor("k", "f16", {2}), {0x3c00, 0x0001}, {0x3c01, 0x0001});
  EXPECT_EQ(half->expected_value(), "1");
  EXPECT_EQ(half->found_value(), "1.00097656");
  EXPECT_EQ(half->found_bits(), "0x3c01");
  const auto brain = drift_of<std::uint16_t>(whole_tensor("k", "bf16", {1}), {0x4049}, {0x404a});
  EXPECT_EQ(brain->expected_value(), "3.140625");
  EXPECT_EQ(brain->max_ulp(), 1U);
  const auto bytes = drift_of<std::int8_t>(whole_tensor("q", "i8", {1}), {-128}, {127});
  EXPECT_EQ(bytes->expected_value(), "-128");
  EXPECT_EQ(bytes->max_ulp(), 255U);
  EXPECT_EQ(bytes->expected_bits(), "0x80");
  const auto words = drift_of<std::int32_t>(whole_tensor("i", "i32", {1}),
                                            {std::numeric_limits<std::int32_t>::min()},
                                            {std::numeric_limits<std::int32_t>::max()});
  EXPECT_EQ(words->max_ulp(), 4'294'967'295U);
}

TEST(Drift, LooksAtLiveElementsOnly) {
  TensorLayout layout = whole_tensor("out", "f32", {2, 3});
  layout.live = {{0, 2}, {3, 5}};
  std::vector<std::uint32_t> expected(6, kOne);
  std::vector<std::uint32_t> found = expected;
  found[2] = found[5] = 0;
  EXPECT_FALSE(drift_of(layout, expected, found).has_value());
  found[4] = kOne - 1;
  const auto drift = drift_of(layout, expected, found);
  ASSERT_TRUE(drift.has_value());
  EXPECT_EQ(drift->num_elements(), 4);
  EXPECT_EQ(drift->num_differing(), 1);
  EXPECT_EQ(drift->first_index(0), 1);
  EXPECT_EQ(drift->first_index(1), 1);
}

}  // namespace
}  // namespace assay::profiler
