#include "profiler/generated_input.h"

#include "kernels/inputs.h"

#include <bit>
#include <cstring>

namespace assay::profiler {
namespace {

using kernels::DType;

float uniform(std::uint64_t key, std::uint64_t index) {
  constexpr std::uint64_t kFractionBits = 24;
  const auto fraction =
      static_cast<std::int32_t>(kernels::random_word(key, index) >> (64 - kFractionBits));
  return static_cast<float>(fraction - (1 << (kFractionBits - 1))) * 0x1p-23F;
}

template <class Element, class Make>
void fill(std::span<std::byte> bytes, const Make& make) {
  for (std::size_t index = 0; (index + 1) * sizeof(Element) <= bytes.size(); ++index) {
    const Element element = make(index);
    std::memcpy(bytes.data() + index * sizeof element, &element, sizeof element);
  }
}

}  // namespace

std::uint16_t half_of(float value) {
  constexpr float kLeastNormal = 0x1p-14F;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (std::bit_cast<float>(magnitude) < kLeastNormal) {
    // Beside 0.5 a float's step is that of half's denormals.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F)));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

std::uint16_t bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

void generate_input(std::uint64_t key,
                    DType dtype,
                    Generator generator,
                    std::span<std::byte> bytes) {
  const auto value = [&](std::uint64_t index) {
    return generator == Generator::kNormal ? kernels::random_normal(key, index)
                                           : uniform(key, index);
  };
  const auto word = [&](std::uint64_t index) { return kernels::random_word(key, index); };
  switch (dtype) {
    case DType::kF32:
      fill<float>(bytes, value);
      break;
    case DType::kF16:
      fill<std::uint16_t>(bytes, [&](std::uint64_t index) { return half_of(value(index)); });
      break;
    case DType::kBF16:
      fill<std::uint16_t>(bytes, [&](std::uint64_t index) { return bf16_of(value(index)); });
      break;
    case DType::kI8:
    case DType::kU8:
      fill<std::uint8_t>(
          bytes, [&](std::uint64_t index) { return static_cast<std::uint8_t>(word(index) >> 56); });
      break;
    case DType::kI32:
      fill<std::uint32_t>(bytes, [&](std::uint64_t index) {
        return static_cast<std::uint32_t>(word(index) >> 32);
      });
      break;
    case DType::kI64:
      fill<std::uint64_t>(bytes, word);
      break;
  }
}

}  // namespace assay::profiler
