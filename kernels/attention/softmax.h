// The roundings of attention's softmax and folds, shared by every kernel that contains them.
// Source: online softmax; a state is (m, l, o): the largest score, the sum of exp(score - m), and
// the sum of exp(score - m) * value, not normalised. A state is empty when its l is 0; folding an
// empty one leaves the other as it is, and folding into an empty one copies.
#pragma once

#include "kernels/numerics.h"

#include <cstdint>

namespace assay::kernels::attention {

ASSAY_HOST_DEVICE static inline float multiply_bits(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

ASSAY_HOST_DEVICE static inline float add_bits(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

ASSAY_HOST_DEVICE static inline float divide_bits(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

// One rounding; never -0, so that a maximum does not depend on the order of its arguments.
ASSAY_HOST_DEVICE static inline float score_of(float dot, float scale) {
  return fma_bits(dot, scale, 0.0F);
}

// Neither is a NaN or -0.
ASSAY_HOST_DEVICE static inline float larger_of(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}

// In (0, 1], or 0 far below the maximum. A masked key's weight is 0 without a call.
ASSAY_HOST_DEVICE static inline float weight_of(float score, float max) {
  return exp_bits(add_bits(score, -max));
}

// A slice's weights w[0..127] (0 where masked) add up in eight sums over w[8 t + i], t ascending
// from sum 0, which meet in this tree.
ASSAY_HOST_DEVICE static inline float sum_of_lanes(const float (&sums)[8]) {
  return add_bits(add_bits(add_bits(sums[0], sums[1]), add_bits(sums[2], sums[3])),
                  add_bits(add_bits(sums[4], sums[5]), add_bits(sums[6], sums[7])));
}

// Nearest even. The value is finite.
ASSAY_HOST_DEVICE static inline std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

ASSAY_HOST_DEVICE static inline float from_bf16(std::uint16_t bits) {
  return float_of(static_cast<std::uint32_t>(bits) << 16);
}

// Of two states that are not empty: each element is fold(a, b), l included.
struct FoldFactors {
  float m;
  float a;
  float b;

  ASSAY_HOST_DEVICE float fold(float a_value, float b_value) const {
    return fma_bits(b_value, b, multiply_bits(a_value, a));
  }
};

// e^0 is exactly 1, so that the larger one's factor needs no exponential.
ASSAY_HOST_DEVICE static inline FoldFactors fold_factors(float a_max, float b_max) {
  const float m = larger_of(a_max, b_max);
  const float factor = exp_bits(add_bits(a_max == m ? b_max : a_max, -m));
  return {m, a_max == m ? 1.0F : factor, b_max == m ? 1.0F : factor};
}

// The unrounded result of a row's element; the output is to_bf16() of it.
ASSAY_HOST_DEVICE static inline float finish(float o, float l) {
  return divide_bits(o, l);
}

}  // namespace assay::kernels::attention
