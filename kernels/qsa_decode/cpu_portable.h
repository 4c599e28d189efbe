// Eight floats as an array: the vector of the portable kernels. The same operations, names and bits
// as the AVX2 form beside it.
#pragma once

#include "kernels/numerics.h"
#include "kernels/qsa_decode/contract.h"

#include <cstdint>

namespace assay::kernels::qsa_decode::portable {

struct Floats {
  float at[8];
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

  static F8 sub(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = a.at[i] - b.at[i];
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

  // Out of line: inlined into unrolled tiles its eight calls would only swell the code.
  [[gnu::noinline]] static F8 fma(const F8& a, const F8& b, F8 c) {
    for (int i = 0; i < 8; ++i) {
      c.at[i] = fma_bits(a.at[i], b.at[i], c.at[i]);
    }
    return c;
  }

  static F8 max(F8 a, F8 b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i];
    }
    return a;
  }

  // Lane i where bit i is set, otherwise `other`.
  static F8 select(std::uint32_t bits, F8 a, F8 other) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = ((bits >> i) & 1U) != 0 ? a.at[i] : other.at[i];
    }
    return a;
  }

  static F8 exp(F8 a) {
    for (float& lane : a.at) {
      lane = exp_bits(lane);
    }
    return a;
  }

  static float max_lane(F8 a) {
    float most = a.at[0];
    for (const float lane : a.at) {
      most = lane > most ? lane : most;
    }
    return most;
  }

  // The last three levels of the tree: partners 4, 2 and 1 lanes away.
  static float tree(F8 a) {
    for (int distance = 4; distance >= 1; distance /= 2) {
      for (int i = 0; i < distance; ++i) {
        a.at[i] = a.at[i] + a.at[i + distance];
      }
    }
    return a.at[0];
  }

  // Lane i is the tree of sums[i].
  static F8 tree8(const F8* sums) {
    F8 result;
    for (int i = 0; i < 8; ++i) {
      result.at[i] = tree(sums[i]);
    }
    return result;
  }

  static void transpose(const float* rows, F8* columns) {
    for (int j = 0; j < 8; ++j) {
      for (int i = 0; i < 8; ++i) {
        columns[j].at[i] = rows[i * 8 + j];
      }
    }
  }

  // One key: keys[v * 8 + j] holds dim j of lanes 8v .. 8v + 7.
  template <KvFormat kFormat>
  static void load_key(const Params& params, std::int64_t row, F8* keys) {
    for (int dim = 0; dim < kHeadDim; ++dim) {
      const int lane = dim / kDimsPerLane;
      keys[lane / 8 * 8 + dim % kDimsPerLane].at[lane % 8] = key_value<kFormat>(params, row, dim);
    }
  }

  // Eight keys: keys[dim] holds that dim of each.
  template <KvFormat kFormat>
  static void load_keys(const Params& params, const std::int64_t* rows, F8* keys) {
    for (int dim = 0; dim < kHeadDim; ++dim) {
      for (int i = 0; i < 8; ++i) {
        keys[dim].at[i] = key_value<kFormat>(params, rows[i], dim);
      }
    }
  }

  // Dims 8b .. 8b + 7 of one value; `scale` is that of the group they lie in.
  template <KvFormat kFormat, bool kSwapNibbles>
  static F8 load_value(const Params& params, std::int64_t row, int block, float scale) {
    F8 result;
    for (int i = 0; i < 8; ++i) {
      const int dim = block * 8 + i;
      if constexpr (kFormat == KvFormat::kFp16) {
        result.at[i] = half_value(params.v, row, dim);
      } else if constexpr (kFormat == KvFormat::kInt8) {
        result.at[i] = code(params.v, row, dim) * scale;
      } else {
        result.at[i] = nibble<kSwapNibbles>(params.v, row, dim) * scale;
      }
    }
    return result;
  }

  static float half(std::uint16_t bits) { return half_to_float(bits); }

 private:
  static float half_value(const void* halves, std::int64_t row, int dim) {
    return half(static_cast<const std::uint16_t*>(halves)[row * kHeadDim + dim]);
  }

  static float code(const void* codes, std::int64_t row, int dim) {
    return static_cast<float>(static_cast<const std::int8_t*>(codes)[row * kHeadDim + dim]);
  }

  template <bool kSwap>
  static float nibble(const void* blocks, std::int64_t row, int dim) {
    const int element = dim % kQ4Block;
    const std::uint8_t byte = static_cast<const std::uint8_t*>(
        blocks)[row * kQ4RowBytes + dim / kQ4Block * 18 + 2 + element % 16];
    const int shift = (element < 16) != kSwap ? 0 : 4;
    return static_cast<float>(((byte >> shift) & 15) - 8);
  }

  template <KvFormat kFormat>
  static float key_value(const Params& params, std::int64_t row, int dim) {
    if constexpr (kFormat == KvFormat::kFp16) {
      return half_value(params.k, row, dim);
    } else if constexpr (kFormat == KvFormat::kQ4_0) {
      const auto* block = static_cast<const std::uint8_t*>(params.k) + row * kQ4RowBytes +
                          std::int64_t{dim / kQ4Block} * 18;
      const int scale = block[0] | (block[1] << 8);
      return nibble<false>(params.k, row, dim) * half(static_cast<std::uint16_t>(scale));
    } else {
      const auto* scales = static_cast<const std::uint16_t*>(params.k_scales) + row * 4;
      return code(params.k, row, dim) * half(scales[dim / kScaleGroup]);
    }
  }
};

}  // namespace assay::kernels::qsa_decode::portable
