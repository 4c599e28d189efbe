#include "profiler/drift.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace assay::profiler {

namespace {

// How the bits of one element are read.
struct Format {
  std::int64_t width = 1;
  bool is_float = false;
  bool is_signed = true;
  std::uint64_t sign = 0;      // floats: the sign bit
  std::uint64_t infinity = 0;  // floats: the bits of +infinity; more is NaN
};

Format format_of(const std::string& dtype) {
  const std::int64_t width = element_bytes(dtype).value_or(1);
  if (dtype == "f32") {
    return {width, true, true, 0x80000000U, 0x7f800000U};
  }
  if (dtype == "f16") {
    return {width, true, true, 0x8000U, 0x7c00U};
  }
  if (dtype == "bf16") {
    return {width, true, true, 0x8000U, 0x7f80U};
  }
  return {width, false, dtype != "u8", 0, 0};
}

std::uint64_t bits_at(const std::byte* bytes, std::int64_t element, std::int64_t width) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes + element * width, static_cast<std::size_t>(width));
  return bits;
}

bool is_nan(const Format& format, std::uint64_t bits) {
  return format.is_float && (bits & ~format.sign) > format.infinity;
}

bool is_zero(const Format& format, std::uint64_t bits) {
  return (bits & ~format.sign) == 0;
}

// Integers in the order of the values; both zeros are 0, so neighbours are 1 apart.
std::int64_t ordered(const Format& format, std::uint64_t bits) {
  if (format.is_float) {
    const auto magnitude = static_cast<std::int64_t>(bits & ~format.sign);
    return (bits & format.sign) != 0 ? -magnitude : magnitude;
  }
  if (!format.is_signed || format.width == 8) {
    return static_cast<std::int64_t>(bits);
  }
  return format.width == 1 ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
}

double half_value(std::uint64_t bits) {
  const auto fraction = static_cast<double>(bits & 0x3ffU);
  const int exponent = static_cast<int>((bits >> 10U) & 0x1fU);
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return sign * (fraction == 0 ? HUGE_VAL : std::nan(""));
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

std::string value_text(const Format& format, const std::string& dtype, std::uint64_t bits) {
  if (!format.is_float) {
    return std::to_string(ordered(format, bits));
  }
  double value = half_value(bits);
  if (dtype != "f16") {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(dtype == "bf16" ? bits << 16U : bits));
  }
  if (std::isnan(value)) {
    return "nan";
  }
  return absl::StrFormat("%.9g", value);
}

std::string bits_text(const Format& format, std::uint64_t bits) {
  return absl::StrFormat("0x%0*x", static_cast<int>(format.width * 2), bits);
}

// What kinds of differences were seen, over all elements.
struct Tally {
  std::int64_t num_differing = 0;
  std::int64_t num_zero_signs = 0;
  std::int64_t num_nan_payloads = 0;
  bool has_large = false;
  std::uint64_t max_ulp = 0;

  void add(const Format& format, std::uint64_t expected, std::uint64_t found) {
    ++num_differing;
    if (format.is_float && is_zero(format, expected) && is_zero(format, found)) {
      ++num_zero_signs;
      return;
    }
    if (is_nan(format, expected) && is_nan(format, found)) {
      ++num_nan_payloads;
      return;
    }
    const auto [low, high] = std::minmax({ordered(format, expected), ordered(format, found)});
    const std::uint64_t ulp = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    max_ulp = std::max(max_ulp, ulp);
    has_large |= ulp > kUlpSized || is_nan(format, expected) || is_nan(format, found);
  }

  v1::DriftClass drift_class() const {
    if (num_zero_signs == num_differing) {
      return v1::SIGN_OF_ZERO;
    }
    if (num_nan_payloads == num_differing) {
      return v1::NAN_PAYLOAD;
    }
    return has_large ? v1::LARGE : v1::ULP_SIZED;
  }
};

std::string class_text(v1::DriftClass drift_class) {
  switch (drift_class) {
    case v1::SIGN_OF_ZERO:
      return "sign of zero only";
    case v1::NAN_PAYLOAD:
      return "NaN payload only";
    case v1::ULP_SIZED:
      return "ulp-sized";
    default:
      return "large";
  }
}

}  // namespace

std::optional<v1::Drift> find_drift(const TensorLayout& layout,
                                    const std::byte* expected,
                                    const std::byte* found) {
  std::vector<MatchedRange> matched;
  for (const ElementRange& range : layout.live) {
    matched.push_back({.begin = range.begin, .end = range.end, .found_begin = range.begin});
  }
  return find_drift(layout, expected, found, matched);
}

std::optional<v1::Drift> find_drift(const TensorLayout& layout,
                                    const std::byte* expected,
                                    const std::byte* found,
                                    std::span<const MatchedRange> matched) {
  const Format format = format_of(layout.dtype);
  v1::Drift drift;
  Tally tally;
  std::int64_t num_elements = 0;
  for (const MatchedRange& range : matched) {
    const std::int64_t count = range.end - range.begin;
    num_elements += count;
    if (std::memcmp(expected + range.begin * format.width,
                    found + range.found_begin * format.width,
                    static_cast<std::size_t>(count * format.width)) == 0) {
      continue;
    }
    for (std::int64_t step = 0; step < count; ++step) {
      const std::int64_t element = range.begin + step;
      const std::uint64_t expected_bits = bits_at(expected, element, format.width);
      const std::uint64_t found_bits = bits_at(found, range.found_begin + step, format.width);
      if (expected_bits == found_bits) {
        continue;
      }
      if (tally.num_differing == 0) {
        for (const std::int64_t place : coordinates(layout, element)) {
          drift.add_first_index(place);
        }
        drift.set_expected_bits(bits_text(format, expected_bits));
        drift.set_found_bits(bits_text(format, found_bits));
        drift.set_expected_value(value_text(format, layout.dtype, expected_bits));
        drift.set_found_value(value_text(format, layout.dtype, found_bits));
      }
      tally.add(format, expected_bits, found_bits);
    }
  }
  if (tally.num_differing == 0) {
    return std::nullopt;
  }
  drift.set_tensor(layout.name);
  drift.set_num_elements(num_elements);
  drift.set_num_differing(tally.num_differing);
  drift.set_max_ulp(tally.max_ulp);
  drift.set_drift_class(tally.drift_class());
  return drift;
}

std::string describe(const v1::Drift& drift) {
  const std::vector<std::int64_t> first(drift.first_index().begin(), drift.first_index().end());
  std::string distance;
  if (drift.drift_class() == v1::ULP_SIZED || drift.drift_class() == v1::LARGE) {
    distance = absl::StrCat(
        "largest distance ", with_commas(static_cast<std::int64_t>(drift.max_ulp())), " ulp, ");
  }
  return absl::StrCat(with_commas(drift.num_differing()),
                      " of ",
                      with_commas(drift.num_elements()),
                      " elements of `",
                      drift.tensor(),
                      "` differ, first ",
                      place_of(drift.tensor(), first),
                      ": expected ",
                      drift.expected_bits(),
                      " (",
                      drift.expected_value(),
                      "), found ",
                      drift.found_bits(),
                      " (",
                      drift.found_value(),
                      "), ",
                      distance,
                      class_text(drift.drift_class()));
}

}  // namespace assay::profiler
