// Arithmetic shared by all backends, the same bits on each: every operation is an IEEE add,
// multiply or fma in the order written. Functions have internal linkage, so that a file built for a
// wider instruction set never lends its copy to another.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
#ifdef __CUDA_ARCH__
#define ASSAY_UNROLL_EACH _Pragma("unroll")
#else
#define ASSAY_UNROLL_EACH
#endif

namespace assay::kernels {

// Constants of exp_bits, for vector forms of it.
inline constexpr float kExpCutOff = -0x1.5d589ep+6F;  // least argument with a normal result
inline constexpr float kExpLog2E = 0x1.715476p+0F;
inline constexpr float kExpRound = 0x1.8p+23F;  // adding it rounds to an integer in the low bits
inline constexpr float kExpLn2High = 0x1.62p-1F;
inline constexpr float kExpLn2Low = 0x1.c85fep-10F;
inline constexpr float kExpC2 = 0x1.fffffcp-2F;
inline constexpr float kExpC3 = 0x1.555492p-3F;
inline constexpr float kExpC4 = 0x1.5558f2p-5F;
inline constexpr float kExpC5 = 0x1.123a2p-7F;
inline constexpr float kExpC6 = 0x1.6a23dp-10F;

ASSAY_HOST_DEVICE static inline float fma_bits(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

ASSAY_HOST_DEVICE static inline std::uint32_t bits_of(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(std::uint32_t, value);
#endif
}

ASSAY_HOST_DEVICE static inline float float_of(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

// e^x of each x <= 0, within 2 ulp: exactly 1 at 0, and 0 where e^x is below the normal range or x
// is a NaN. Step by step for all of them, since a step waits for the one before it.
template <int kCount>
ASSAY_HOST_DEVICE static inline void exp_bits_each(float (&x)[kCount]) {
  // x = n ln 2 + r with |r| <= ln 2 / 2.
  float shifted[kCount];
  float r[kCount];
  float p[kCount];
  ASSAY_UNROLL_EACH
  for (int i = 0; i < kCount; ++i) {
    shifted[i] = fma_bits(x[i], kExpLog2E, kExpRound);
  }
  ASSAY_UNROLL_EACH
  for (int i = 0; i < kCount; ++i) {
    r[i] = fma_bits(shifted[i] - kExpRound, -kExpLn2High, x[i]);
  }
  ASSAY_UNROLL_EACH
  for (int i = 0; i < kCount; ++i) {
    r[i] = fma_bits(shifted[i] - kExpRound, -kExpLn2Low, r[i]);
  }
  ASSAY_UNROLL_EACH
  for (int i = 0; i < kCount; ++i) {
    p[i] = fma_bits(kExpC6, r[i], kExpC5);
  }
  const float coefficients[] = {kExpC4, kExpC3, kExpC2, 1.0F, 1.0F};
  ASSAY_UNROLL_EACH
  for (int step = 0; step < 5; ++step) {
    ASSAY_UNROLL_EACH
    for (int i = 0; i < kCount; ++i) {
      p[i] = fma_bits(p[i], r[i], coefficients[step]);
    }
  }
  // The low bits of `shifted` are n: it goes into the exponent.
  ASSAY_UNROLL_EACH
  for (int i = 0; i < kCount; ++i) {
    const float power = float_of(bits_of(p[i]) + (bits_of(shifted[i]) << 23));
    x[i] = x[i] >= kExpCutOff ? power : 0.0F;
  }
}

ASSAY_HOST_DEVICE static inline float exp_bits(float x) {
  float only[1] = {x};
  exp_bits_each(only);
  return only[0];
}

// Exact, denormals included. The value of an infinity or a NaN is not specified.
ASSAY_HOST_DEVICE static inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  // Placed as a float of the same fields it is 2^112 too small; the product is exact.
  const float magnitude = float_of((half & 0x7fffU) << 13) * 0x1p+112F;
  return float_of(bits_of(magnitude) | sign);
}

}  // namespace assay::kernels
