// Eight floats as an array: the vector of the portable kernels. The same operations, names and bits
// as the AVX2 form beside it.
#pragma once

#include "kernels/attention/cpu_operands.h"
#include "kernels/attention/softmax.h"
#include "kernels/attention/tensor_core.h"
#include "kernels/numerics.h"

#include <cstdint>

namespace assay::kernels::attention::portable {

struct Floats {
  float at[8];
};

struct Integers {
  std::int32_t at[8];
};

struct Vector {
  using F8 = Floats;

  static F8 set1(float value) {
    F8 result;
    for (float& lane : result.at) {
      lane = value;
    }
    return result;
  }

  static F8 load(const float* values) {
    F8 result;
    for (int i = 0; i < 8; ++i) {
      result.at[i] = values[i];
    }
    return result;
  }

  static void store(float* values, F8 a) {
    for (int i = 0; i < 8; ++i) {
      values[i] = a.at[i];
    }
  }

  static F8 add(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = a.at[i] + b.at[i];
    }
    return a;
  }

  static F8 mul(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = a.at[i] * b.at[i];
    }
    return a;
  }

  static F8 div(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = a.at[i] / b.at[i];
    }
    return a;
  }

  static F8 fma(F8 a, F8 b, F8 c) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = fma_bits(a.at[i], b.at[i], c.at[i]);
    }
    return a;
  }

  static F8 max(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = larger_of(a.at[i], b.at[i]);
    }
    return a;
  }

  // Lane i of `a` where begin <= i < end, otherwise `other`.
  static F8 select(std::int32_t begin, std::int32_t end, F8 a, F8 other) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = i >= begin && i < end ? a.at[i] : other.at[i];
    }
    return a;
  }

  static F8 exp(F8 x) {
    for (float& lane : x.at) {
      lane = exp_bits(lane);
    }
    return x;
  }

  static void store_bf16(std::uint16_t* bits, F8 a) {
    for (int i = 0; i < 8; ++i) {
      bits[i] = to_bf16(a.at[i]);
    }
  }

  // ---- Operands ----

  static void expand_left(const std::uint16_t* bits,
                          int count,
                          float* values,
                          std::int16_t* exponents) {
    for (int k = 0; k < count; ++k) {
      values[k] = from_bf16(bits[k]);
      exponents[k] = exponent_of(bits[k], 127);
    }
  }

  // Eight keys as columns: `dim` rows of k.
  static void expand_keys(const std::uint16_t* const* rows, int dim, RightStorage right) {
    for (int column = 0; column < 8; ++column) {
      for (int k = 0; k < dim; ++k) {
        store_one(rows[column][k], k, column, right);
      }
    }
  }

  // Eight dims of `count` values as columns: each value is a row of k.
  static void expand_values(const std::uint16_t* const* rows,
                            int count,
                            int dim,
                            RightStorage right) {
    for (int k = 0; k < count; ++k) {
      for (int column = 0; column < 8; ++column) {
        store_one(rows[k][dim + column], k, column, right);
      }
    }
  }

  // ---- The tensor-core step ----

  // Step `step` of each row of `left` with eight columns; acc is replaced.
  template <int kRows>
  static void step(const LeftRow* left, const RightBlock& right, int step, F8* acc) {
    const int k = step * kStepTerms;
    for (int row = 0; row < kRows; ++row) {
      one_row(left[row].values + k,
              left[row].exponents + k,
              right.values + k * 8,
              right.exponents + k * 8,
              &acc[row]);
    }
  }

 private:
  static std::int16_t exponent_of(std::uint16_t bits, int bias) {
    const int field = bits >> 7 & 0xff;
    if ((bits & 0x7fff) == 0) {
      return kExponentOfZero;
    }
    return field == 255 ? kExponentOfSpecial
                        : static_cast<std::int16_t>((field == 0 ? 1 : field) - bias);
  }

  static void store_one(std::uint16_t bits, int k, int column, RightStorage right) {
    right.values[k * 8 + column] = from_bf16(bits);
    right.exponents[(k & ~1) * 8 + column * 2 + (k & 1)] = exponent_of(bits, 0);
  }

  static void one_row(const float* left,
                      const std::int16_t* left_exponents,
                      const float* columns,
                      const std::int16_t* exponents,
                      F8* acc) {
    // Of even and odd k apart, as they lie.
    std::int16_t products[16];
    for (std::int16_t& most : products) {
      most = 2 * kExponentOfZero;
    }
    for (int k = 0; k < kStepTerms; k += 2) {
      for (int i = 0; i < 16; ++i) {
        const auto sum =
            static_cast<std::int16_t>(exponents[k * 8 + i] + left_exponents[k + (i & 1)]);
        products[i] = sum > products[i] ? sum : products[i];
      }
    }

    Integers largest;
    bool is_zero = true;
    bool is_fast = true;
    for (int i = 0; i < 8; ++i) {
      const std::int16_t even = products[i * 2];
      const std::int16_t odd = products[i * 2 + 1];
      std::int32_t most = even > odd ? even : odd;
      const std::uint32_t bits = bits_of(acc->at[i]) << 1;
      const auto field = static_cast<std::int32_t>(bits >> 24);
      is_zero = is_zero && most < kExponentOfZero / 2 && bits == 0;
      most = most > field ? most : field;
      is_fast = is_fast && most >= kLeastFastExponent && most <= kMostFastExponent;
      largest.at[i] = most;
    }
    if (is_zero) {
      *acc = set1(0.0F);
    } else if (!is_fast || !fast_lanes(left, columns, largest, acc)) {
      slow_lanes(left, columns, acc);
    }
  }

  // False, and nothing changed, where a sum of products may not leave room for the accumulator.
  static bool fast_lanes(const float* left, const float* columns, Integers largest, F8* acc) {
    Integers sums = {};
    F8 scale;
    for (int i = 0; i < 8; ++i) {
      scale.at[i] = float_of(static_cast<std::uint32_t>(kScaleField - largest.at[i]) << 23);
    }
    for (int k = 0; k < kStepTerms; ++k) {
      for (int i = 0; i < 8; ++i) {
        const float product = left[k] * columns[k * 8 + i] * scale.at[i];
        sums.at[i] += static_cast<std::int32_t>(product);
      }
    }
    bool has_room = true;
    for (const std::int32_t sum : sums.at) {
      has_room = has_room && (sum < 0 ? -sum : sum) <= kMostFastSum;
    }
    if (!has_room) {
      return false;
    }
    for (int i = 0; i < 8; ++i) {
      const std::int32_t total = sums.at[i] + static_cast<std::int32_t>(acc->at[i] * scale.at[i]);
      acc->at[i] = truncated(total) *
                   float_of(static_cast<std::uint32_t>(largest.at[i] - kUnscaleField) << 23);
    }
    return true;
  }

  // Nearest, then one step back where that went up.
  static float truncated(std::int32_t total) {
    const auto nearest = static_cast<float>(total);
    const auto back = static_cast<std::int32_t>(nearest);
    const bool went_up = (back < 0 ? -back : back) > (total < 0 ? -total : total);
    return float_of(bits_of(nearest) - (went_up ? 1U : 0U));
  }

  static void slow_lanes(const float* left, const float* columns, F8* acc) {
    std::uint16_t a[kStepTerms];
    for (int k = 0; k < kStepTerms; ++k) {
      a[k] = static_cast<std::uint16_t>(bits_of(left[k]) >> 16);
    }
    for (int i = 0; i < 8; ++i) {
      std::uint16_t b[kStepTerms];
      for (int k = 0; k < kStepTerms; ++k) {
        b[k] = static_cast<std::uint16_t>(bits_of(columns[k * 8 + i]) >> 16);
      }
      acc->at[i] = tensor_core_step(acc->at[i], a, b);
    }
  }
};

}  // namespace assay::kernels::attention::portable
