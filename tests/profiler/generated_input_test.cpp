#include "profiler/generated_input.h"

#include "kernels/numerics.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace assay::profiler {
namespace {

TEST(GeneratedInput, RoundsToTheNearestHalfTiesToEven) {
  // Every half from its float, and the middle between it and the next one.
  for (std::uint32_t half = 0; half < 0x4700; ++half) {
    const float value = kernels::half_to_float(static_cast<std::uint16_t>(half));
    const float next = kernels::half_to_float(static_cast<std::uint16_t>(half + 1));
    EXPECT_EQ(half_of(value), half);
    EXPECT_EQ(half_of(-value), half | 0x8000U);
    const float middle = value + (next - value) / 2;
    EXPECT_EQ(half_of(middle), half + (half & 1U)) << half;
    EXPECT_EQ(half_of(std::nextafter(middle, next)), half + 1);
  }
}

TEST(GeneratedInput, RoundsToTheNearestBfloatTiesToEven) {
  EXPECT_EQ(bf16_of(1.0F), 0x3f80);
  EXPECT_EQ(bf16_of(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(bf16_of(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(bf16_of(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(bf16_of(std::bit_cast<float>(0xbf818000U)), 0xbf82);
}

TEST(GeneratedInput, IsUniformInItsRange) {
  std::vector<float> values(20'000);
  generate_input(
      7, kernels::DType::kF32, Generator::kUniform, std::as_writable_bytes(std::span(values)));
  double sum = 0;
  for (const float value : values) {
    ASSERT_GE(value, -1.0F);
    ASSERT_LT(value, 1.0F);
    sum += value;
  }
  EXPECT_LT(std::abs(sum / 20'000), 0.03);
}

TEST(GeneratedInput, IsAFunctionOfKeyAndIndexAlone) {
  std::array<std::byte, 64> whole = {};
  std::array<std::byte, 32> part = {};
  generate_input(3, kernels::DType::kI32, Generator::kNormal, whole);
  generate_input(3, kernels::DType::kI32, Generator::kNormal, part);
  EXPECT_EQ(std::memcmp(whole.data(), part.data(), part.size()), 0);
  generate_input(4, kernels::DType::kI32, Generator::kNormal, part);
  EXPECT_NE(std::memcmp(whole.data(), part.data(), part.size()), 0);
}

}  // namespace
}  // namespace assay::profiler
