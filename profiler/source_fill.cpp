#include "profiler/source_fill.h"

#include "kernels/inputs.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

namespace assay::profiler {
namespace {

using kernels::DType;

// Ties to even; beyond the largest an infinity.
std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

std::uint16_t f16_bits(float value) {
  constexpr float kTooLarge = 65520.0F;
  constexpr std::uint32_t kInfinity = 0x7c00;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const float magnitude = std::abs(value);
  if (!(magnitude < kTooLarge)) {
    return static_cast<std::uint16_t>(sign | kInfinity);
  }
  // Adding a power of two leaves the bits that fit: the sum is rounded as the half would be.
  const int exponent = std::max(static_cast<int>(bits >> 23 & 0xffU), 113);
  const auto step = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 10 + 23) << 23);
  const float rounded = (magnitude + step) - step;
  // As a half of the same value: 2^-112 moves the exponent, the fraction loses 13 zero bits.
  const auto half = std::bit_cast<std::uint32_t>(rounded * 0x1p-112F) >> 13;
  return static_cast<std::uint16_t>(sign | half);
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void store_float(DType dtype, float value, std::byte* to) {
  if (dtype == DType::kF32) {
    store(to, value);
  } else {
    store(to, dtype == DType::kF16 ? f16_bits(value) : bf16_bits(value));
  }
}

void store_integer(DType dtype, std::int64_t value, std::byte* to) {
  switch (dtype) {
    case DType::kI8:
    case DType::kU8:
      return store(to, static_cast<std::uint8_t>(value));
    case DType::kI32:
      return store(to, static_cast<std::int32_t>(value));
    default:
      return store(to, value);
  }
}

bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// In [0, 1): 24 bits, exact.
float unit(std::uint64_t key, std::uint64_t index) {
  return static_cast<float>(kernels::random_word(key, index) >> 40) * 0x1p-24F;
}

}  // namespace

void fill_source(const v1::SourceTensor& tensor,
                 kernels::DType dtype,
                 std::uint64_t seed,
                 std::span<std::byte> bytes) {
  const v1::SourceFill& fill = tensor.fill();
  const std::uint64_t key = kernels::make_key(seed, absl::StrCat("source/", tensor.name()));
  const auto size = static_cast<std::size_t>(kernels::size_bytes(dtype));
  const std::size_t num_elements = bytes.size() / size;
  if (is_float(dtype)) {
    std::function<float(std::uint64_t)> value;
    if (fill.kind() == "uniform") {
      const double width = fill.high() - fill.low();
      value = [&fill, key, width](std::uint64_t index) {
        return static_cast<float>(fill.low() + width * unit(key, index));
      };
    } else if (fill.kind() == "constant") {
      value = [&fill](std::uint64_t /*index*/) { return static_cast<float>(fill.value()); };
    } else if (fill.kind() == "index") {
      value = [&fill](std::uint64_t index) {
        return static_cast<float>(fill.value() + static_cast<double>(index));
      };
    } else {
      value = [&fill, key](std::uint64_t index) {
        return static_cast<float>(fill.value() * kernels::random_normal(key, index));
      };
    }
    for (std::size_t index = 0; index < num_elements; ++index) {
      store_float(dtype, value(index), bytes.data() + index * size);
    }
    return;
  }
  const bool is_uniform = fill.kind() == "uniform";
  const auto first = static_cast<std::int64_t>(is_uniform ? fill.low() : fill.value());
  const auto width = static_cast<std::uint64_t>(fill.high() - fill.low());
  for (std::size_t index = 0; index < num_elements; ++index) {
    std::uint64_t added = fill.kind() == "index" ? index : 0;
    if (is_uniform) {
      added = kernels::random_word(key, index) % width;
    }
    store_integer(dtype,
                  static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + added),
                  bytes.data() + index * size);
  }
}

}  // namespace assay::profiler
