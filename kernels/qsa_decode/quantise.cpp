#include "kernels/qsa_decode/quantise.h"

#include "kernels/numerics.h"

#include <algorithm>
#include <cmath>

namespace assay::kernels::qsa_decode {
namespace {

constexpr int kQ4BlockBytes = 18;
constexpr float kMostCode = 127.0F;

// Shifts right by `shift` bits, to nearest, ties to even.
std::uint32_t shift_to_even(std::uint32_t value, int shift) {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t lost = value & ((1U << shift) - 1);
  const std::uint32_t half = 1U << (shift - 1);
  const bool is_up = lost > half || (lost == half && (kept & 1U) != 0);
  return kept + (is_up ? 1U : 0U);
}

// Among equal magnitudes the larger signed value wins, wherever it stands.
float largest_magnitude(std::span<const float> values) {
  float largest = values.front();
  for (const float value : values) {
    const float magnitude = std::fabs(value);
    const float known = std::fabs(largest);
    if (magnitude > known || (magnitude == known && value > largest)) {
      largest = value;
    }
  }
  return largest;
}

std::uint8_t q4_code(float value, float inverse) {
  const float shifted = value * inverse + 8.5F;
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(shifted), 0, 15));
}

}  // namespace

std::uint16_t half_from_float(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U;  // a quiet NaN
  } else if (magnitude >= 0x47800000U) {
    half = 0x7c00U;  // 2^16 and more
  } else if (magnitude >= 0x38800000U) {
    half = shift_to_even(magnitude - 0x38000000U, 13);  // normal; may carry into infinity
  } else if (magnitude >= 0x33000000U) {
    // Subnormal: the whole significand, shifted to units of 2^-24.
    const int exponent = static_cast<int>(magnitude >> 23);
    half = shift_to_even((magnitude & 0x7fffffU) | 0x800000U, 126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::array<std::uint16_t, kHeadDim> quantise_fp16(Row row) {
  std::array<std::uint16_t, kHeadDim> halves;
  std::ranges::transform(row, halves.begin(), half_from_float);
  return halves;
}

Int8Row quantise_int8(Row row) {
  Int8Row result = {};
  for (std::size_t group = 0; group < result.scales.size(); ++group) {
    const std::span<const float> values = row.subspan(group * kScaleGroup, kScaleGroup);
    float largest = 0.0F;
    for (const float value : values) {
      largest = std::max(largest, std::fabs(value));
    }
    result.scales[group] = half_from_float(largest / kMostCode);
    const float scale = half_to_float(result.scales[group]);
    for (std::size_t i = 0; scale > 0.0F && i < values.size(); ++i) {
      const float code = std::clamp(std::nearbyintf(values[i] / scale), -kMostCode, kMostCode);
      result.codes[group * kScaleGroup + i] = static_cast<std::int8_t>(code);
    }
  }
  return result;
}

std::array<std::uint8_t, kQ4RowBytes> quantise_q4_0(Row row) {
  std::array<std::uint8_t, kQ4RowBytes> bytes = {};
  for (std::size_t block = 0; block < kHeadDim / kQ4Block; ++block) {
    const std::span<const float> values = row.subspan(block * kQ4Block, kQ4Block);
    const float d = largest_magnitude(values) / -8.0F;
    const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
    const std::uint16_t scale = half_from_float(d);
    std::uint8_t* begin = bytes.data() + block * kQ4BlockBytes;
    begin[0] = static_cast<std::uint8_t>(scale & 0xffU);
    begin[1] = static_cast<std::uint8_t>(scale >> 8);
    for (std::size_t i = 0; i < kQ4Block / 2; ++i) {
      const std::uint8_t low = q4_code(values[i], inverse);
      const std::uint8_t high = q4_code(values[i + kQ4Block / 2], inverse);
      begin[2 + i] = static_cast<std::uint8_t>(low | (high << 4));
    }
  }
  return bytes;
}

void hadamard(std::span<float, kHeadDim> row) {
  for (std::size_t half = 1; half < kHeadDim; half *= 2) {
    for (std::size_t first = 0; first < kHeadDim; first += 2 * half) {
      for (std::size_t i = first; i < first + half; ++i) {
        const float a = row[i];
        const float b = row[i + half];
        row[i] = a + b;
        row[i + half] = a - b;
      }
    }
  }
  for (float& value : row) {
    value *= 0.0625F;
  }
}

}  // namespace assay::kernels::qsa_decode
