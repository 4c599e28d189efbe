// Reads K and V codes and widens them to fp32, every step exact: fp16 converts, int8 and q4_0 are
// code times scale. Loading is apart from widening so that loads of several cells can be in flight.
#pragma once

#include "kernels/qsa_decode/contract.h"
#include "kernels/qsa_decode/mutation.h"

#include <cuda_fp16.h>

#include <cstdint>

namespace assay::kernels::qsa_decode {

enum class Encoding : std::uint8_t { kF16, kI8, kQ4 };

__host__ __device__ constexpr Encoding key_encoding(KvFormat format) {
  switch (format) {
    case KvFormat::kFp16:
      return Encoding::kF16;
    case KvFormat::kQ4_0:
      return Encoding::kQ4;
    case KvFormat::kInt8:
    case KvFormat::kK8V4:
      break;
  }
  return Encoding::kI8;
}

__host__ __device__ constexpr Encoding value_encoding(KvFormat format) {
  return format == KvFormat::kK8V4 ? Encoding::kQ4 : key_encoding(format);
}

inline constexpr int kScalesPerRow = kHeadDim / kScaleGroup;
inline constexpr int kQ4BlockBytes = 18;
inline constexpr int kQ4ScaleBytes = 2;

__device__ inline float widen_half(std::uint32_t bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits & 0xFFFFU)));
}

// The signed byte at place `index` of `word`.
__device__ inline float widen_byte(std::uint32_t word, int index) {
  return static_cast<float>(static_cast<signed char>(word >> (8 * index)));
}

// The nibble at bit `shift` of `word`, less 8: 2^23 + n is a float whose low bits are n.
__device__ inline float widen_nibble(std::uint32_t word, int shift) {
  const std::uint32_t biased = ((word >> shift) & 0xFU) | 0x4B000000U;
  return __fsub_rn(__uint_as_float(biased), 8388616.0F);
}

// The codes of one lane's eight dims of a K row and their scale, as loaded.
struct KeyCodes {
  std::uint32_t words[4];
  std::uint32_t scale;
};

template <Encoding kEncoding, Mutation kMutation = Mutation::kNone>
__device__ inline KeyCodes load_key(const Params& params, std::int64_t row, int lane) {
  KeyCodes codes = {};
  if constexpr (kEncoding == Encoding::kF16) {
    const auto* rows = static_cast<const uint4*>(params.k);
    const uint4 words = __ldg(rows + row * kLanes + lane);
    codes.words[0] = words.x;
    codes.words[1] = words.y;
    codes.words[2] = words.z;
    codes.words[3] = words.w;
  } else if constexpr (kEncoding == Encoding::kI8) {
    const auto* rows = static_cast<const uint2*>(params.k);
    const auto* scales = static_cast<const unsigned short*>(params.k_scales);
    const uint2 words = __ldg(rows + row * kLanes + lane);
    codes.words[0] = words.x;
    codes.words[1] = words.y;
    int group = lane / (kScaleGroup / kDimsPerLane);
    if constexpr (kMutation == Mutation::kScaleGroupOffByOne) {
      group = (group + 1) % kScalesPerRow;
    }
    codes.scale = __ldg(scales + row * kScalesPerRow + group);
  } else {
    // Lanes 4b..4b+3 share block b: two halves of its bytes, two nibbles each. A half starts at an
    // even byte, so it is cut out of two or three aligned words.
    const auto* bytes = static_cast<const unsigned char*>(params.k) + row * kQ4RowBytes;
    const int block = lane / 4 * kQ4BlockBytes;
    const int first = block + kQ4ScaleBytes + (lane & 1) * 8;
    const bool is_split = (first & 2) != 0;
    const auto* words = reinterpret_cast<const std::uint32_t*>(bytes + (first & ~3));
    const std::uint32_t low = __ldg(words);
    const std::uint32_t middle = __ldg(words + 1);
    const std::uint32_t high = is_split ? __ldg(words + 2) : 0U;
    codes.words[0] = __funnelshift_r(low, middle, is_split ? 16 : 0);
    codes.words[1] = __funnelshift_r(middle, high, is_split ? 16 : 0);
    codes.scale = __ldg(reinterpret_cast<const unsigned short*>(bytes + block));
  }
  return codes;
}

template <Encoding kEncoding, Mutation kMutation = Mutation::kNone>
__device__ inline void widen_key(const KeyCodes& codes, int lane, float (&k)[kDimsPerLane]) {
#pragma unroll
  for (int i = 0; i < kDimsPerLane; ++i) {
    if constexpr (kEncoding == Encoding::kF16) {
      k[i] = widen_half(codes.words[i / 2] >> (16 * (i % 2)));
    } else if constexpr (kEncoding == Encoding::kI8) {
      k[i] = __fmul_rn(widen_byte(codes.words[i / 4], i % 4), widen_half(codes.scale));
    } else {
      int half = lane & 2;
      if constexpr (kMutation == Mutation::kNibblesSwapped) {
        half ^= 2;
      }
      const std::uint32_t nibbles = codes.words[i / 4] >> (half * 2);
      k[i] = __fmul_rn(widen_nibble(nibbles, 8 * (i % 4)), widen_half(codes.scale));
    }
  }
}

// The code of one dim of a V row and its scale, as loaded.
struct ValueCode {
  std::uint32_t code;
  std::uint32_t scale;
};

template <Encoding kEncoding>
__device__ inline ValueCode load_value(const Params& params, std::int64_t row, int dim) {
  ValueCode value = {};
  if constexpr (kEncoding == Encoding::kF16) {
    value.code = __ldg(static_cast<const unsigned short*>(params.v) + row * kHeadDim + dim);
  } else if constexpr (kEncoding == Encoding::kI8) {
    const auto* scales = static_cast<const unsigned short*>(params.v_scales);
    value.code = __ldg(static_cast<const unsigned char*>(params.v) + row * kHeadDim + dim);
    value.scale = __ldg(scales + row * kScalesPerRow + dim / kScaleGroup);
  } else {
    const auto* bytes = static_cast<const unsigned char*>(params.v) + row * kQ4RowBytes;
    const auto* block = bytes + dim / kQ4Block * kQ4BlockBytes;
    value.code = __ldg(block + kQ4ScaleBytes + dim % (kQ4Block / 2));
    value.scale = __ldg(reinterpret_cast<const unsigned short*>(block));
  }
  return value;
}

template <Encoding kEncoding>
__device__ inline float widen_value(const ValueCode& value, int dim) {
  if constexpr (kEncoding == Encoding::kF16) {
    return widen_half(value.code);
  } else if constexpr (kEncoding == Encoding::kI8) {
    return __fmul_rn(widen_byte(value.code, 0), widen_half(value.scale));
  } else {
    const int shift = (dim % kQ4Block) / (kQ4Block / 2) * 4;
    return __fmul_rn(widen_nibble(value.code, shift), widen_half(value.scale));
  }
}

}  // namespace assay::kernels::qsa_decode
