// Operands of tensor-core steps as the cpu kernels hold them: values as fp32, and exponents apart,
// since a step aligns to the largest sum of two. Left operands are rows of k, right operands eight
// columns side by side.
#pragma once

#include <cstdint>

namespace assay::kernels::attention {

// Exponents that no finite product reaches, so that sums of two tell zeros and infinities apart.
inline constexpr std::int16_t kExponentOfZero = -4'000;
inline constexpr std::int16_t kExponentOfSpecial = 8'000;

// A step's largest exponent, biased by 127, for which every scaling is an exact product.
inline constexpr std::int32_t kLeastFastExponent = 27;
inline constexpr std::int32_t kMostFastExponent = 247;
// Largest sum of the 16 products, in units of 2^(E - 25), that leaves room for the accumulator.
inline constexpr std::int32_t kMostFastSum = 0x78000000;

// fp32 exponent fields: of 2^(25 - E), less E's bias, and how far below E those of 2^(E - 25) lie.
inline constexpr std::int32_t kScaleField = 279;
inline constexpr std::int32_t kUnscaleField = 25;

// A row of k, for one step or many: exponents without bias.
struct LeftRow {
  const float* values;
  const std::int16_t* exponents;
};

// Eight columns: values[k * 8 + column]; biased exponents of k and k + 1 next to each other,
// exponents[k * 8 + column * 2 + (k & 1)] for even k.
struct RightBlock {
  const float* values;
  const std::int16_t* exponents;
};

struct RightStorage {
  float* values;
  std::int16_t* exponents;
};

}  // namespace assay::kernels::attention
