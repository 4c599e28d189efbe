// Eight floats in a register: the vector of the AVX2 kernels. Empty where AVX2, FMA and F16C are
// not switched on.
#pragma once

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define ASSAY_AVX2 1

#include "kernels/numerics.h"
#include "kernels/qsa_decode/contract.h"

#include <cstdint>
#include <immintrin.h>

namespace assay::kernels::qsa_decode::avx2 {

struct Vector {
  using F8 = __m256;

  static F8 set1(float value) { return _mm256_set1_ps(value); }

  static F8 load(const float* values) { return _mm256_loadu_ps(values); }

  static void store(float* values, F8 a) { _mm256_storeu_ps(values, a); }

  static F8 add(F8 a, F8 b) { return _mm256_add_ps(a, b); }

  static F8 sub(F8 a, F8 b) { return _mm256_sub_ps(a, b); }

  static F8 mul(F8 a, F8 b) { return _mm256_mul_ps(a, b); }

  static F8 div(F8 a, F8 b) { return _mm256_div_ps(a, b); }

  static F8 fma(F8 a, F8 b, F8 c) { return _mm256_fmadd_ps(a, b, c); }

  static F8 max(F8 a, F8 b) { return _mm256_max_ps(a, b); }

  // Lane i where bit i is set, otherwise `other`.
  static F8 select(std::uint32_t bits, F8 a, F8 other) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), each);
    return _mm256_blendv_ps(other, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, each)));
  }

  // The steps of exp_bits; what lies below the cut-off is discarded at the end.
  static F8 exp(F8 x) {
    const F8 shifted = fma(x, set1(kExpLog2E), set1(kExpRound));
    const F8 n = sub(shifted, set1(kExpRound));
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

  static float max_lane(F8 a) {
    a = max(a, _mm256_permute2f128_ps(a, a, 1));
    a = max(a, _mm256_permute_ps(a, 0x4E));
    a = max(a, _mm256_permute_ps(a, 0xB1));
    return _mm256_cvtss_f32(a);
  }

  // The last three levels of the tree as a butterfly: partners 4, 2 and 1 lanes away.
  static float tree(F8 a) {
    a = add(a, _mm256_permute2f128_ps(a, a, 1));
    a = add(a, _mm256_permute_ps(a, 0x4E));
    a = add(a, _mm256_permute_ps(a, 0xB1));
    return _mm256_cvtss_f32(a);
  }

  // Lane i is the tree of sums[i], by reduce-scatter: at each level half of the vectors go.
  static F8 tree8(const F8* sums) {
    const F8 a = fold4(sums[0], sums[4]);
    const F8 b = fold4(sums[1], sums[5]);
    const F8 c = fold4(sums[2], sums[6]);
    const F8 d = fold4(sums[3], sums[7]);
    const F8 ac = fold2(a, c);
    const F8 bd = fold2(b, d);
    return fold1(ac, bd);
  }

  // Eight rows of eight floats to columns.
  static void transpose(const float* rows, F8* columns) {
    F8 t[8];
    F8 u[8];
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      const F8 even = load(rows + i * 16);
      const F8 odd = load(rows + i * 16 + 8);
      t[i * 2] = _mm256_unpacklo_ps(even, odd);
      t[i * 2 + 1] = _mm256_unpackhi_ps(even, odd);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
      u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
      u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
      u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      columns[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
      columns[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
  }

  // One key: keys[v * 8 + j] holds dim j of lanes 8v .. 8v + 7.
  template <KvFormat kFormat>
  static void load_key(const Params& params, std::int64_t row, F8* keys) {
    for (int v = 0; v < 4; ++v) {
      if constexpr (kFormat == KvFormat::kFp16) {
        const auto* halves = static_cast<const std::uint16_t*>(params.k) + row * kHeadDim + v * 64;
        __m128i lanes[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          lanes[i] = load16(halves + i * 8);
        }
        half_columns(lanes, keys + v * 8);
      } else if constexpr (kFormat == KvFormat::kQ4_0) {
        const auto* blocks =
            static_cast<const std::uint8_t*>(params.k) + row * kQ4RowBytes + v * 36;
        const __m128i first = load16(blocks + 2);
        const __m128i second = load16(blocks + 20);
        const __m128i codes[4] = {
            low_nibbles(first), high_nibbles(first), low_nibbles(second), high_nibbles(second)};
        const F8 scales =
            _mm256_set_m128(_mm_set1_ps(half_at(blocks + 18)), _mm_set1_ps(half_at(blocks)));
        code_columns(codes, scales, keys + v * 8);
      } else {
        const auto* row_codes = static_cast<const std::int8_t*>(params.k) + row * kHeadDim + v * 64;
        const __m128i codes[4] = {load16(row_codes),
                                  load16(row_codes + 16),
                                  load16(row_codes + 32),
                                  load16(row_codes + 48)};
        const auto* scales = static_cast<const std::uint16_t*>(params.k_scales) + row * 4;
        code_columns(codes, set1(half(scales[v])), keys + v * 8);
      }
    }
  }

  // Eight keys: keys[dim] holds that dim of each.
  template <KvFormat kFormat>
  static void load_keys(const Params& params, const std::int64_t* rows, F8* keys) {
    F8 scales = set1(0.0F);
    for (int lane = 0; lane < kLanes; ++lane) {
      if constexpr (kFormat == KvFormat::kFp16) {
        __m128i cells[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          cells[i] =
              load16(static_cast<const std::uint16_t*>(params.k) + rows[i] * kHeadDim + lane * 8);
        }
        half_columns(cells, keys + lane * 8);
      } else if constexpr (kFormat == KvFormat::kQ4_0) {
        const auto* blocks = static_cast<const std::uint8_t*>(params.k) + lane / 4 * 18;
        if (lane % 4 == 0) {
          alignas(32) float scale[8];
#pragma GCC unroll 8
          for (int i = 0; i < 8; ++i) {
            scale[i] = half_at(blocks + rows[i] * kQ4RowBytes);
          }
          scales = load(scale);
        }
        __m128i codes[4];
#pragma GCC unroll 8
        for (int i = 0; i < 4; ++i) {
          const std::uint8_t* half_block = blocks + 2 + lane % 2 * 8;
          const __m128i bytes = load8_twice(half_block + rows[i * 2] * kQ4RowBytes,
                                            half_block + rows[i * 2 + 1] * kQ4RowBytes);
          codes[i] = lane % 4 < 2 ? low_nibbles(bytes) : high_nibbles(bytes);
        }
        code_columns(codes, scales, keys + lane * 8);
      } else {
        if (lane % 8 == 0) {
          alignas(32) float scale[8];
#pragma GCC unroll 8
          for (int i = 0; i < 8; ++i) {
            scale[i] =
                half(static_cast<const std::uint16_t*>(params.k_scales)[rows[i] * 4 + lane / 8]);
          }
          scales = load(scale);
        }
        const auto* row_codes = static_cast<const std::int8_t*>(params.k) + lane * 8;
        __m128i codes[4];
#pragma GCC unroll 8
        for (int i = 0; i < 4; ++i) {
          codes[i] = load8_twice(row_codes + rows[i * 2] * kHeadDim,
                                 row_codes + rows[i * 2 + 1] * kHeadDim);
        }
        code_columns(codes, scales, keys + lane * 8);
      }
    }
  }

  // Dims 8b .. 8b + 7 of one value; `scale` is that of the group they lie in.
  template <KvFormat kFormat, bool kSwapNibbles>
  static F8 load_value(const Params& params, std::int64_t row, int block, float scale) {
    if constexpr (kFormat == KvFormat::kFp16) {
      return _mm256_cvtph_ps(
          load16(static_cast<const std::uint16_t*>(params.v) + row * kHeadDim + block * 8));
    } else if constexpr (kFormat == KvFormat::kInt8) {
      const auto* codes = static_cast<const std::int8_t*>(params.v) + row * kHeadDim + block * 8;
      return mul(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load8(codes))), set1(scale));
    } else {
      const auto* bytes = static_cast<const std::uint8_t*>(params.v) + row * kQ4RowBytes +
                          block / 4 * 18 + 2 + block % 2 * 8;
      const __m256i wide = _mm256_cvtepu8_epi32(load8(bytes));
      const bool is_low = (block % 4 < 2) != kSwapNibbles;
      const __m256i nibbles =
          is_low ? _mm256_and_si256(wide, _mm256_set1_epi32(15)) : _mm256_srli_epi32(wide, 4);
      const __m256i codes = _mm256_sub_epi32(nibbles, _mm256_set1_epi32(8));
      return mul(_mm256_cvtepi32_ps(codes), set1(scale));
    }
  }

  static float half(std::uint16_t bits) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  }

 private:
  // Low halves of both meet their high halves; a's sums end in the low half.
  static F8 fold4(F8 a, F8 b) {
    return add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }

  static F8 fold2(F8 a, F8 b) {
    return add(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
  }

  static F8 fold1(F8 a, F8 b) {
    const F8 low = _mm256_unpacklo_ps(a, b);
    const F8 high = _mm256_unpackhi_ps(a, b);
    return add(_mm256_shuffle_ps(low, high, 0x44), _mm256_shuffle_ps(low, high, 0xEE));
  }

  static __m128i load16(const void* bytes) {
    return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  }

  static __m128i load8(const void* bytes) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(bytes));
  }

  static __m128i load8_twice(const void* first, const void* second) {
    return _mm_unpacklo_epi64(load8(first), load8(second));
  }

  static float half_at(const std::uint8_t* bytes) {
    return half(static_cast<std::uint16_t>(bytes[0] | (bytes[1] << 8)));
  }

  static __m128i low_nibbles(__m128i bytes) {
    return _mm_sub_epi8(_mm_and_si128(bytes, _mm_set1_epi8(15)), _mm_set1_epi8(8));
  }

  static __m128i high_nibbles(__m128i bytes) {
    return low_nibbles(_mm_srli_epi16(bytes, 4));
  }

  static F8 widen(__m128i codes, F8 scales) {
    return mul(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)), scales);
  }

  // Eight rows of eight codes, two in each register, to columns.
  static void code_columns(const __m128i* rows, F8 scales, F8* columns) {
    const __m128i r04 = _mm_unpacklo_epi8(rows[0], rows[2]);
    const __m128i r15 = _mm_unpackhi_epi8(rows[0], rows[2]);
    const __m128i r26 = _mm_unpacklo_epi8(rows[1], rows[3]);
    const __m128i r37 = _mm_unpackhi_epi8(rows[1], rows[3]);
    const __m128i even_low = _mm_unpacklo_epi8(r04, r26);
    const __m128i even_high = _mm_unpackhi_epi8(r04, r26);
    const __m128i odd_low = _mm_unpacklo_epi8(r15, r37);
    const __m128i odd_high = _mm_unpackhi_epi8(r15, r37);
    const __m128i pairs[4] = {_mm_unpacklo_epi8(even_low, odd_low),
                              _mm_unpackhi_epi8(even_low, odd_low),
                              _mm_unpacklo_epi8(even_high, odd_high),
                              _mm_unpackhi_epi8(even_high, odd_high)};
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      columns[i * 2] = widen(pairs[i], scales);
      columns[i * 2 + 1] = widen(_mm_srli_si128(pairs[i], 8), scales);
    }
  }

  // Eight rows of eight halves to columns.
  static void half_columns(const __m128i* rows, F8* columns) {
    __m128i t[8];
    __m128i u[8];
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm_unpacklo_epi16(rows[i], rows[i + 4]);
      t[i + 4] = _mm_unpackhi_epi16(rows[i], rows[i + 4]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
      u[i] = _mm_unpacklo_epi16(t[i], t[i + 2]);
      u[i + 1] = _mm_unpackhi_epi16(t[i], t[i + 2]);
      u[i + 2] = _mm_unpacklo_epi16(t[i + 1], t[i + 3]);
      u[i + 3] = _mm_unpackhi_epi16(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
      columns[i] = _mm256_cvtph_ps(_mm_unpacklo_epi16(u[i], u[i + 2]));
      columns[i + 1] = _mm256_cvtph_ps(_mm_unpackhi_epi16(u[i], u[i + 2]));
      columns[i + 2] = _mm256_cvtph_ps(_mm_unpacklo_epi16(u[i + 1], u[i + 3]));
      columns[i + 3] = _mm256_cvtph_ps(_mm_unpackhi_epi16(u[i + 1], u[i + 3]));
    }
  }
};

}  // namespace assay::kernels::qsa_decode::avx2

#endif
