#include "kernels/numerics.h"

#include "kernels/thread_pool.h"
#include "tests/kernels/exp_digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace assay::kernels {
namespace {

constexpr std::uint32_t kMinusZero = 0x80000000U;
constexpr std::uint32_t kPastMinus104 = 0xc2d00008U;

TEST(ExpBits, IsZeroBelowTheNormalRange) {
  EXPECT_EQ(bits_of(exp_bits(std::nextafterf(kExpCutOff, -100.0F))), 0U);
  EXPECT_EQ(bits_of(exp_bits(-0x1.fffffep+127F)), 0U);
  EXPECT_GE(exp_bits(kExpCutOff), 0x1p-126F);
}

TEST(ExpBits, IsExactlyOneAtZero) {
  EXPECT_EQ(exp_bits(0.0F), 1.0F);
  EXPECT_EQ(exp_bits(-0.0F), 1.0F);
}

TEST(ExpBits, IsWithinTwoUlp) {
  double worst = 0;
  for (std::uint32_t bits = kMinusZero; bits <= bits_of(kExpCutOff); bits += 4'099) {
    const double exact = std::exp(double{float_of(bits)});
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::fabs(exp_bits(float_of(bits)) - exact) / ulp);
  }
  EXPECT_LE(worst, 2.0);
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

TEST(ExpBits, HasTheSameBitsInItsVectorForm) {
  if (!has_avx2()) {
    GTEST_SKIP() << "no AVX2 and FMA on this processor";
  }
  constexpr std::uint32_t kStride = 1'009;
  for (std::uint32_t bits = kMinusZero; bits < kPastMinus104; bits += 8 * kStride) {
    float arguments[8];
    float results[8];
    for (std::uint32_t i = 0; i < 8; ++i) {
      arguments[i] = float_of(bits + i * kStride);
    }
    exp_avx2(arguments, results);
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(bits_of(results[i]), bits_of(exp_bits(arguments[i]))) << arguments[i];
    }
  }
}

TEST(ExpBits, HasOneDigestOverAllItsArguments) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
  GTEST_SKIP() << "1.1e9 arguments take minutes in this build";
#endif
  if (!has_avx2()) {
    GTEST_SKIP() << "no AVX2 and FMA on this processor";
  }
  constexpr std::uint32_t kStep = 1U << 22;
  constexpr std::int64_t kNumSteps = (kPastMinus104 - kMinusZero + kStep - 1) / kStep;
  std::atomic<std::uint64_t> digest = 0;
  ThreadPool pool;
  pool.for_each(static_cast<int>(available_processors().size()), kNumSteps, [&](std::int64_t step) {
    const std::uint32_t first = kMinusZero + static_cast<std::uint32_t>(step) * kStep;
    digest += exp_digest_avx2(first, std::min(first + kStep, kPastMinus104));
  });
  EXPECT_EQ(digest.load(), 2407183827678743505U);
}

TEST(HalfToFloat, IsExactForEveryFiniteHalf) {
  for (std::uint32_t half = 0; half < 0x10000U; ++half) {
    const int exponent = static_cast<int>((half >> 10) & 31U);
    if (exponent == 31) {
      continue;
    }
    const double significand = (half & 1'023U) + (exponent == 0 ? 0.0 : 1'024.0);
    const double magnitude = std::ldexp(significand, std::max(exponent, 1) - 25);
    const double value = (half & 0x8000U) != 0 ? -magnitude : magnitude;
    const float converted = half_to_float(static_cast<std::uint16_t>(half));
    ASSERT_EQ(converted, value);
    ASSERT_EQ(std::signbit(converted), (half & 0x8000U) != 0);
  }
}

}  // namespace
}  // namespace assay::kernels
