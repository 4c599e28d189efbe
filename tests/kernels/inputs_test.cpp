#include "kernels/inputs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::kernels {
namespace {

TEST(Inputs, DependOnSeedNameAndIndex) {
  EXPECT_NE(make_key(1, "q"), make_key(2, "q"));
  EXPECT_NE(make_key(1, "q"), make_key(1, "k"));
  EXPECT_NE(random_word(make_key(1, "q"), 0), random_word(make_key(1, "q"), 1));
}

TEST(Inputs, StayBelowTheirBound) {
  const std::uint64_t key = make_key(3, "below");
  bool is_seen[5] = {};
  for (std::uint64_t index = 0; index < 1'000; ++index) {
    const std::uint32_t value = random_below(key, index, 5);
    ASSERT_LT(value, 5U);
    is_seen[value] = true;
  }
  for (const bool seen : is_seen) {
    EXPECT_TRUE(seen);
  }
}

TEST(Inputs, NormalsHaveMeanZeroAndDeviationOne) {
  const std::uint64_t key = make_key(4, "normal");
  constexpr int kCount = 100'000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t index = 0; index < kCount; ++index) {
    const double value = random_normal(key, index);
    ASSERT_LE(std::fabs(value), 6.0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.02);
  EXPECT_NEAR(squares / kCount, 1.0, 0.02);
}

TEST(Inputs, KeepTheirValues) {
  const std::uint64_t key = make_key(5, "fixed");
  std::uint64_t digest = 0;
  for (std::uint64_t index = 0; index < 1'000; ++index) {
    const auto scaled = static_cast<std::int64_t>(random_normal(key, index) * 65'536.0F);
    digest = mix_bits(digest ^ static_cast<std::uint64_t>(scaled));
  }
  EXPECT_EQ(digest, 7787423287066360939U);
}

}  // namespace
}  // namespace assay::kernels
