// What the tensor cores of sm_90 compute in one step of m16n8k16 (bf16 inputs, fp32 sums), bit for
// bit, mma.sync and wgmma alike. The 17 terms are 16 exact products and the accumulator. E is the
// largest exponent of a term that is not zero: ea + eb of a product, whose significand lies in
// [1, 4) and is not normalised. Each magnitude is truncated to a multiple of 2^(E - 25), the sum is
// exact, and is truncated toward zero to fp32, subnormals kept. The order of k never shows.
#pragma once

#include "kernels/numerics.h"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kStepTerms = 16;         // products of a step
inline constexpr int kStepFractionBits = 25;  // kept below E

// significand * 2^exponent, the sign in the significand; bf16 and fp32, subnormals included.
struct StepTerm {
  std::int32_t significand = 0;
  std::int32_t exponent = 0;
};

static inline StepTerm term_of_bf16(std::uint16_t bits) {
  const int field = (bits >> 7) & 0xff;
  const int magnitude = (bits & 0x7f) | (field != 0 ? 0x80 : 0);
  return {(bits & 0x8000) != 0 ? -magnitude : magnitude, (field != 0 ? field : 1) - 127};
}

static inline StepTerm term_of_fp32(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto field = static_cast<int>((bits >> 23) & 0xff);
  const auto magnitude = static_cast<int>((bits & 0x7fffff) | (field != 0 ? 0x800000U : 0U));
  return {(bits >> 31) != 0 ? -magnitude : magnitude, (field != 0 ? field : 1) - 127};
}

// The magnitude loses what a right shift drops.
static inline std::int64_t align_term(std::int64_t significand, int shift) {
  const std::int64_t magnitude = significand < 0 ? -significand : significand;
  const std::int64_t aligned = shift >= 0    ? magnitude << shift
                               : shift > -32 ? magnitude >> -shift
                                             : 0;
  return significand < 0 ? -aligned : aligned;
}

// sum * 2^exponent toward zero; infinite beyond the largest fp32.
static inline float truncate_to_fp32(std::int64_t sum, int exponent) {
  auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  if (magnitude == 0) {
    return 0.0F;
  }
  const int top = exponent + 63 - __builtin_clzll(magnitude);
  const int lowest = top - 23 > -149 ? top - 23 : -149;
  const int drop = lowest - exponent;
  magnitude = drop >= 64 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop;
  std::uint32_t bits = 0x7f800000;
  if (top < -126) {
    bits = static_cast<std::uint32_t>(magnitude);
  } else if (top <= 127) {
    bits = (static_cast<std::uint32_t>(top + 127) << 23) |
           (static_cast<std::uint32_t>(magnitude) & 0x7fffff);
  }
  return float_of(bits | (sum < 0 ? 0x80000000U : 0U));
}

// With an infinity or a NaN among the inputs: what IEEE gives, every NaN as the one that the tensor
// cores write.
static inline float special_step(float acc, const std::uint16_t* a, const std::uint16_t* b) {
  double sum = acc;
  for (int k = 0; k < kStepTerms; ++k) {
    const float product_a = float_of(static_cast<std::uint32_t>(a[k]) << 16);
    const float product_b = float_of(static_cast<std::uint32_t>(b[k]) << 16);
    sum += static_cast<double>(product_a) * static_cast<double>(product_b);
  }
  return sum != sum ? float_of(0x7fffffffU) : static_cast<float>(sum);
}

// One output: acc + a[0] b[0] + .. + a[15] b[15], a and b as the bits of bf16.
static inline float tensor_core_step(float acc, const std::uint16_t* a, const std::uint16_t* b) {
  constexpr int kNone = -10'000;
  StepTerm products[kStepTerms];
  const StepTerm sum_before = term_of_fp32(acc);
  bool is_special = sum_before.exponent == 128;
  int largest = sum_before.significand != 0 ? sum_before.exponent : kNone;
  for (int k = 0; k < kStepTerms; ++k) {
    const StepTerm left = term_of_bf16(a[k]);
    const StepTerm right = term_of_bf16(b[k]);
    is_special = is_special || left.exponent == 128 || right.exponent == 128;
    products[k] = {left.significand * right.significand, left.exponent + right.exponent};
    if (products[k].significand != 0 && products[k].exponent > largest) {
      largest = products[k].exponent;
    }
  }
  if (is_special) {
    return special_step(acc, a, b);
  }
  if (largest == kNone) {
    return 0.0F;
  }

  // 23 and 14 fraction bits become 25 below E.
  std::int64_t sum =
      align_term(sum_before.significand, sum_before.exponent - largest + kStepFractionBits - 23);
  for (const StepTerm& product : products) {
    sum += align_term(product.significand, product.exponent - largest + kStepFractionBits - 14);
  }
  return truncate_to_fp32(sum, largest - kStepFractionBits);
}

}  // namespace assay::kernels::attention
