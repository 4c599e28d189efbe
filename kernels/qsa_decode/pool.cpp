#include "kernels/qsa_decode/pool.h"

#include "kernels/inputs.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

namespace assay::kernels::qsa_decode {
namespace {

constexpr int kCodeWords = kHeadDim / 8;
constexpr int kHalfWords = kHeadDim / 4;
constexpr int kNumQ4Blocks = kHeadDim / kQ4Block;
constexpr int kQ4BlockBytes = 18;

// Two pools of one kind (int8 keys and values) hold different bytes.
constexpr std::uint64_t key_of(RowKind kind, Tensor tensor) {
  constexpr std::string_view kNames[] = {"none", "halves", "codes", "scales", "q4_0"};
  return make_key(static_cast<std::uint64_t>(tensor), kNames[static_cast<std::size_t>(kind)]);
}

constexpr std::uint64_t half_bits(std::uint64_t word) {
  // Fifteen bits choose one of the five binades' magnitudes.
  const std::uint64_t magnitude = 0x2c00U + (((word & 0x7fffU) * 5 * 1024) >> 15);
  return magnitude | (word & 0x8000U);
}

constexpr std::uint64_t four_halves(std::uint64_t word) {
  std::uint64_t halves = 0;
  for (int shift = 0; shift < 64; shift += 16) {
    halves |= half_bits((word >> shift) & 0xffffU) << shift;
  }
  return halves;
}

constexpr std::uint64_t kEachByte = 0x0101010101010101U;

// -128 becomes -127: the low bit is set where a byte is 0x80.
constexpr std::uint64_t eight_codes(std::uint64_t word) {
  const std::uint64_t flipped = word ^ (kEachByte * 0x80);
  const std::uint64_t any_low = (flipped & (kEachByte * 0x7f)) + kEachByte * 0x7f;
  const std::uint64_t is_zero = ~(any_low | flipped) & (kEachByte * 0x80);
  return word | (is_zero >> 7);
}

void put(std::byte* bytes, std::uint64_t word) {
  std::memcpy(bytes, &word, sizeof(word));
}

void fill_q4_blocks(std::uint64_t key, std::int64_t row, std::byte* bytes) {
  for (int block = 0; block < kNumQ4Blocks; ++block) {
    const auto index = static_cast<std::uint64_t>(row * kNumQ4Blocks + block) * 3;
    std::byte* begin = bytes + block * kQ4BlockBytes;
    const auto scale = static_cast<std::uint16_t>(0x3400U | (random_word(key, index) & 0x3ffU));
    std::memcpy(begin, &scale, sizeof(scale));
    put(begin + 2, random_word(key, index + 1));
    put(begin + 10, random_word(key, index + 2));
  }
}

// Textbook: (-1)^s * 2^(e - 25) * (1024 + f); the pools hold normal numbers only.
double value_of_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double magnitude = std::ldexp(1024.0 + (bits & 1023), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t half_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data() + offset, sizeof(half));
  return half;
}

}  // namespace

RowKind row_kind(KvFormat format, Tensor tensor) {
  const bool is_scales = tensor == kKScales || tensor == kVScales;
  const bool is_key = tensor == kK || tensor == kKScales;
  const bool is_int8 = format == KvFormat::kInt8 || (format == KvFormat::kK8V4 && is_key);
  if (is_scales) {
    return is_int8 ? RowKind::kScales : RowKind::kNone;
  }
  if (format == KvFormat::kFp16) {
    return RowKind::kHalves;
  }
  return is_int8 ? RowKind::kCodes : RowKind::kQ4Blocks;
}

std::int64_t row_bytes(RowKind kind) {
  switch (kind) {
    case RowKind::kNone:
      return 0;
    case RowKind::kHalves:
      return kHeadDim * 2;
    case RowKind::kCodes:
      return kHeadDim;
    case RowKind::kScales:
      return kHeadDim / kScaleGroup * 2;
    case RowKind::kQ4Blocks:
      return kQ4RowBytes;
  }
  return 0;
}

void fill_rows(RowKind kind, Tensor tensor, std::int64_t first_row, std::span<std::byte> bytes) {
  const std::int64_t size = row_bytes(kind);
  if (size == 0) {
    return;
  }
  const std::uint64_t key = key_of(kind, tensor);
  const std::int64_t num_rows = std::ssize(bytes) / size;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    std::byte* begin = bytes.data() + row * size;
    const auto index = static_cast<std::uint64_t>(first_row + row);
    switch (kind) {
      case RowKind::kHalves:
        for (std::uint64_t word = 0; word < kHalfWords; ++word) {
          put(begin + word * 8, four_halves(random_word(key, index * kHalfWords + word)));
        }
        break;
      case RowKind::kCodes:
        for (std::uint64_t word = 0; word < kCodeWords; ++word) {
          put(begin + word * 8, eight_codes(random_word(key, index * kCodeWords + word)));
        }
        break;
      case RowKind::kScales:
        put(begin, 0x2400240024002400U | (random_word(key, index) & 0x03ff03ff03ff03ffU));
        break;
      case RowKind::kQ4Blocks:
        fill_q4_blocks(key, first_row + row, begin);
        break;
      case RowKind::kNone:
        break;
    }
  }
}

void dequantised_row(KvFormat format,
                     bool is_key,
                     std::int64_t row,
                     std::span<double, kHeadDim> values) {
  std::array<std::byte, kHeadDim * 2> storage;
  std::array<std::byte, kHeadDim / kScaleGroup * 2> scale_storage;
  const Tensor tensor = is_key ? kK : kV;
  const RowKind kind = row_kind(format, tensor);
  const std::span<std::byte> bytes =
      std::span(storage).first(static_cast<std::size_t>(row_bytes(kind)));
  fill_rows(kind, tensor, row, bytes);
  if (kind == RowKind::kCodes) {
    fill_rows(RowKind::kScales, is_key ? kKScales : kVScales, row, scale_storage);
  }
  for (std::size_t dim = 0; dim < kHeadDim; ++dim) {
    if (kind == RowKind::kHalves) {
      values[dim] = value_of_half(half_at(bytes, dim * 2));
    } else if (kind == RowKind::kCodes) {
      const double scale = value_of_half(half_at(scale_storage, dim / kScaleGroup * 2));
      values[dim] = static_cast<std::int8_t>(bytes[dim]) * scale;
    } else {
      const std::size_t block = dim / kQ4Block * kQ4BlockBytes;
      const std::size_t element = dim % kQ4Block;
      const auto byte = static_cast<int>(bytes[block + 2 + element % 16]);
      const int nibble = element < 16 ? byte & 15 : byte >> 4;
      values[dim] = (nibble - 8) * value_of_half(half_at(bytes, block));
    }
  }
}

}  // namespace assay::kernels::qsa_decode
