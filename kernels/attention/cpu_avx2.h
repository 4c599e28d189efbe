// Eight floats in a register: the vector of the AVX2 kernels. Empty where AVX2 and FMA are not
// switched on.
#pragma once

#if defined(__AVX2__) && defined(__FMA__)
#define ASSAY_ATTENTION_AVX2 1

#include "kernels/attention/cpu_operands.h"
#include "kernels/attention/tensor_core.h"
#include "kernels/numerics.h"

#include <cstdint>
#include <immintrin.h>

namespace assay::kernels::attention::avx2 {

struct Vector {
  using F8 = __m256;

  static F8 set1(float value) { return _mm256_set1_ps(value); }

  static F8 load(const float* values) { return _mm256_loadu_ps(values); }

  static void store(float* values, F8 a) { _mm256_storeu_ps(values, a); }

  static F8 add(F8 a, F8 b) { return _mm256_add_ps(a, b); }

  static F8 mul(F8 a, F8 b) { return _mm256_mul_ps(a, b); }

  static F8 div(F8 a, F8 b) { return _mm256_div_ps(a, b); }

  static F8 fma(F8 a, F8 b, F8 c) { return _mm256_fmadd_ps(a, b, c); }

  static F8 max(F8 a, F8 b) { return _mm256_max_ps(a, b); }

  // Lane i of `a` where begin <= i < end, otherwise `other`.
  static F8 select(std::int32_t begin, std::int32_t end, F8 a, F8 other) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(begin), lane);
    const __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32(end), lane);
    return _mm256_blendv_ps(other, a, _mm256_castsi256_ps(_mm256_andnot_si256(below, inside)));
  }

  // The steps of exp_bits; what lies below the cut-off is discarded at the end.
  static F8 exp(F8 x) {
    const F8 shifted = fma(x, set1(kExpLog2E), set1(kExpRound));
    const F8 n = _mm256_sub_ps(shifted, set1(kExpRound));
    F8 r = fma(n, set1(-kExpLn2High), x);
    r = fma(n, set1(-kExpLn2Low), r);
    F8 p = fma(set1(kExpC6), r, set1(kExpC5));
    p = fma(p, r, set1(kExpC4));
    p = fma(p, r, set1(kExpC3));
    p = fma(p, r, set1(kExpC2));
    p = fma(p, r, set1(1.0F));
    p = fma(p, r, set1(1.0F));
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    const F8 scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
    return _mm256_and_ps(scaled, _mm256_cmp_ps(x, set1(kExpCutOff), _CMP_GE_OQ));
  }

  // Nearest even, as to_bf16.
  static void store_bf16(std::uint16_t* bits, F8 a) {
    const __m256i word = _mm256_castps_si256(a);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(word, 16), _mm256_set1_epi32(1));
    const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    const __m256i high = _mm256_srli_epi32(_mm256_add_epi32(word, bias), 16);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(bits),
        _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
  }

  // ---- Operands ----

  // `count` is a multiple of 16.
  static void expand_left(const std::uint16_t* bits,
                          int count,
                          float* values,
                          std::int16_t* exponents) {
    for (int k = 0; k < count; k += 16) {
      const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + k));
      store16(exponents + k, exponents_of(words, 127));
      store(values + k, widen(_mm256_castsi256_si128(words)));
      store(values + k + 8, widen(_mm256_extracti128_si256(words, 1)));
    }
  }

  // Eight keys as columns: `dim` rows of k.
  static void expand_keys(const std::uint16_t* const* rows, int dim, RightStorage right) {
    for (int k = 0; k < dim; k += 16) {
      __m256 pairs[8];
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row) {
        pairs[row] = _mm256_loadu_ps(reinterpret_cast<const float*>(rows[row] + k));
      }
      transpose(pairs);
#pragma GCC unroll 8
      for (int pair = 0; pair < 8; ++pair) {
        store_pair(_mm256_castps_si256(pairs[pair]), k + pair * 2, right);
      }
    }
  }

  // Eight dims of `count` values as columns: each value is a row of k.
  static void expand_values(const std::uint16_t* const* rows,
                            int count,
                            int dim,
                            RightStorage right) {
    for (int k = 0; k < count; k += 2) {
      const __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[k] + dim));
      const __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[k + 1] + dim));
      const __m256i pair =
          _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd));
      store_pair(pair, k, right);
    }
  }

  // ---- The tensor-core step ----

  // Step `step` of each row of `left` with eight columns; acc is replaced.
  template <int kRows>
  static void step(const LeftRow* left, const RightBlock& right, int step, F8* acc) {
    const int k = step * kStepTerms;
    const float* columns = right.values + k * 8;
    const auto* exponents = reinterpret_cast<const __m256i*>(right.exponents + k * 8);

    __m256i products[kRows];
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row) {
      products[row] = _mm256_set1_epi16(2 * kExponentOfZero);
    }
#pragma GCC unroll 8
    for (int pair = 0; pair < 8; ++pair) {
      const __m256i both = _mm256_loadu_si256(exponents + pair);
#pragma GCC unroll 2
      for (int row = 0; row < kRows; ++row) {
        const __m256i mine = pair_of(left[row].exponents + k + pair * 2);
        products[row] = _mm256_max_epi16(products[row], _mm256_add_epi16(both, mine));
      }
    }

    __m256i largest[kRows];
    F8 scale[kRows];
    __m256i sum[kRows];
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row) {
      products[row] = _mm256_srai_epi32(
          _mm256_max_epi16(products[row], _mm256_slli_epi32(products[row], 16)), 16);
      const __m256i field =
          _mm256_srli_epi32(_mm256_slli_epi32(_mm256_castps_si256(acc[row]), 1), 24);
      largest[row] = _mm256_max_epi32(products[row], field);
      const __m256i clamped = _mm256_max_epi32(largest[row], _mm256_set1_epi32(kLeastFastExponent));
      scale[row] = _mm256_castsi256_ps(
          _mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(kScaleField), clamped), 23));
      sum[row] = _mm256_setzero_si256();
    }
#pragma GCC unroll 16
    for (int i = 0; i < kStepTerms; ++i) {
      const F8 column = load(columns + i * 8);
#pragma GCC unroll 2
      for (int row = 0; row < kRows; ++row) {
        const F8 product = mul(mul(set1(left[row].values[k + i]), column), scale[row]);
        sum[row] = _mm256_add_epi32(sum[row], _mm256_cvttps_epi32(product));
      }
    }
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row) {
      const F8 before = acc[row];
      acc[row] =
          truncated_sum(sum[row], _mm256_cvttps_epi32(mul(before, scale[row])), largest[row]);
      const __m256i slow = _mm256_or_si256(
          _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(kLeastFastExponent), largest[row]),
                          _mm256_cmpgt_epi32(largest[row], _mm256_set1_epi32(kMostFastExponent))),
          _mm256_cmpgt_epi32(_mm256_abs_epi32(sum[row]), _mm256_set1_epi32(kMostFastSum)));
      if (__builtin_expect(_mm256_movemask_ps(_mm256_castsi256_ps(slow)), 0) != 0) {
        slow_lanes(left[row].values + k, columns, before, slow, products[row], &acc[row]);
      }
    }
  }

 private:
  static void store16(std::int16_t* to, __m256i words) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words);
  }

  static F8 widen(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }

  // Of sixteen bf16, less `bias`.
  static __m256i exponents_of(__m256i bits, std::int16_t bias) {
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi16(0x7fff));
    const __m256i field = _mm256_srli_epi16(magnitude, 7);
    const __m256i is_zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    const __m256i is_special = _mm256_cmpeq_epi16(field, _mm256_set1_epi16(255));
    const __m256i exponent =
        _mm256_sub_epi16(_mm256_max_epi16(field, _mm256_set1_epi16(1)), _mm256_set1_epi16(bias));
    const __m256i finite =
        _mm256_blendv_epi8(exponent, _mm256_set1_epi16(kExponentOfZero), is_zero);
    return _mm256_blendv_epi8(finite, _mm256_set1_epi16(kExponentOfSpecial), is_special);
  }

  // Rows k (low halves) and k + 1 of eight columns.
  static void store_pair(__m256i pair, int k, RightStorage right) {
    const __m256i odd = _mm256_and_si256(pair, _mm256_set1_epi32(static_cast<int>(0xffff0000U)));
    store(right.values + k * 8, _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16)));
    store(right.values + k * 8 + 8, _mm256_castsi256_ps(odd));
    store16(right.exponents + k * 8, exponents_of(pair, 0));
  }

  static __m256i pair_of(const std::int16_t* exponents) {
    std::int32_t both = 0;
    __builtin_memcpy(&both, exponents, sizeof(both));
    return _mm256_set1_epi32(both);
  }

  // (sum + before) * 2^(E - 25): nearest, then one step back where that went up.
  static F8 truncated_sum(__m256i sum, __m256i before, __m256i largest) {
    const __m256i total = _mm256_add_epi32(sum, before);
    const F8 nearest = _mm256_cvtepi32_ps(total);
    const __m256i back = _mm256_abs_epi32(_mm256_cvttps_epi32(nearest));
    const __m256i went_up = _mm256_cmpgt_epi32(back, _mm256_abs_epi32(total));
    const F8 truncated =
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(nearest), went_up));
    const __m256i clamped = _mm256_max_epi32(largest, _mm256_set1_epi32(kLeastFastExponent));
    const __m256i unscale =
        _mm256_slli_epi32(_mm256_sub_epi32(clamped, _mm256_set1_epi32(kUnscaleField)), 23);
    return mul(truncated, _mm256_castsi256_ps(unscale));
  }

  // Lanes that the exact products cannot serve, one by one. A lane of zeros is right as it is.
  __attribute__((noinline, cold)) static void slow_lanes(
      const float* left, const float* columns, F8 before, __m256i slow, __m256i products, F8* acc) {
    const __m256i none = _mm256_cmpgt_epi32(_mm256_set1_epi32(kExponentOfZero / 2), products);
    const __m256i is_zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(_mm256_castps_si256(before), 1),
                                               _mm256_setzero_si256());
    const __m256i wanted = _mm256_andnot_si256(_mm256_and_si256(none, is_zero), slow);
    const int lanes = _mm256_movemask_ps(_mm256_castsi256_ps(wanted));
    if (lanes == 0) {
      return;
    }
    float sums[8];
    float results[8];
    store(sums, before);
    store(results, *acc);
    for (int lane = 0; lane < 8; ++lane) {
      if ((lanes >> lane & 1) == 0) {
        continue;
      }
      std::uint16_t a[kStepTerms];
      std::uint16_t b[kStepTerms];
      for (int k = 0; k < kStepTerms; ++k) {
        a[k] = static_cast<std::uint16_t>(bits_of(left[k]) >> 16);
        b[k] = static_cast<std::uint16_t>(bits_of(columns[k * 8 + lane]) >> 16);
      }
      results[lane] = tensor_core_step(sums[lane], a, b);
    }
    *acc = load(results);
  }

  // Eight rows of eight words to columns.
  static void transpose(__m256* rows) {
    __m256 t[8];
    __m256 u[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
      t[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
      u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
      u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      rows[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
      rows[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
  }
};

}  // namespace assay::kernels::attention::avx2

#endif
