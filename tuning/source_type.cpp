#include "tuning/source_type.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace assay::tuning {
namespace {

struct Type {
  std::string_view name;
  std::int64_t num_bytes;
  std::int64_t min;  // of integers
  std::int64_t max;
  int exponent_bits;  // of floats, 0 of integers
  int mantissa_bits;
};

template <typename Integer>
constexpr Type integer_type(std::string_view name) {
  return {name,
          sizeof(Integer),
          std::numeric_limits<Integer>::min(),
          std::numeric_limits<Integer>::max(),
          0,
          0};
}

constexpr std::array<Type, 8> kTypes = {{{"f64", 8, 0, 0, 11, 52},
                                         {"f32", 4, 0, 0, 8, 23},
                                         {"f16", 2, 0, 0, 5, 10},
                                         {"bf16", 2, 0, 0, 8, 7},
                                         integer_type<std::int8_t>("i8"),
                                         integer_type<std::uint8_t>("u8"),
                                         integer_type<std::int32_t>("i32"),
                                         integer_type<std::int64_t>("i64")}};

const Type* find_type(std::string_view dtype) {
  const auto* found = std::ranges::find(kTypes, dtype, &Type::name);
  return found == kTypes.end() ? nullptr : found;
}

absl::Status refuse(const Type& type, const Value& value, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(value_text(value), " ", std::string(why), " ", std::string(type.name)));
}

// Rounded once, from double, so that no second rounding moves a tie; none beyond the largest.
std::optional<std::uint64_t> float_bits(double value, const Type& type) {
  const int bias = (1 << (type.exponent_bits - 1)) - 1;
  const double magnitude = std::fabs(value);
  int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  auto mantissa = static_cast<std::uint64_t>(
      std::nearbyint(std::ldexp(magnitude, type.mantissa_bits - exponent)));
  const std::uint64_t hidden = std::uint64_t{1} << type.mantissa_bits;
  if (mantissa == 2 * hidden) {
    mantissa = hidden;
    ++exponent;
  }
  if (exponent > bias) {
    return std::nullopt;
  }
  const std::uint64_t sign = std::signbit(value) ? 1 : 0;
  // A subnormal has no hidden bit and exponent 0.
  const std::uint64_t biased = mantissa < hidden ? 0 : static_cast<std::uint64_t>(exponent + bias);
  return (sign << (type.exponent_bits + type.mantissa_bits)) | (biased << type.mantissa_bits) |
         (mantissa & (hidden - 1));
}

std::optional<double> number_of(const Value& value) {
  if (const std::optional<std::int64_t> integer = integer_of(value)) {
    return static_cast<double>(*integer);
  }
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

}  // namespace

std::int64_t source_type_bytes(std::string_view dtype) {
  const Type* type = find_type(dtype);
  return type == nullptr ? 0 : type->num_bytes;
}

bool is_float_type(std::string_view dtype) {
  const Type* type = find_type(dtype);
  return type != nullptr && type->exponent_bits > 0;
}

absl::StatusOr<std::vector<std::byte>> source_type_value(std::string_view dtype,
                                                         const Value& value) {
  const Type& type = *find_type(dtype);
  std::uint64_t bits = 0;
  if (type.exponent_bits > 0) {
    const std::optional<double> number = number_of(value);
    if (!number) {
      return refuse(type, value, "is no number for");
    }
    const std::optional<std::uint64_t> rounded = float_bits(*number, type);
    if (!rounded) {
      return refuse(type, value, "is beyond");
    }
    bits = *rounded;
  } else {
    const std::optional<std::int64_t> integer = integer_of(value);
    if (!integer) {
      return refuse(type, value, "is no integer for");
    }
    if (*integer < type.min || *integer > type.max) {
      return refuse(type, value, "is beyond");
    }
    bits = static_cast<std::uint64_t>(*integer);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(type.num_bytes));
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(bits & 0xffU);
    bits >>= 8U;
  }
  return bytes;
}

}  // namespace assay::tuning
