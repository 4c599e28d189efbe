#include "client/duration.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace assay::client {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {{
    {"ns", 1.0},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"m", 60e9},
    {"h", 3600e9},
    {"d", 24 * 3600e9},
}};

constexpr double kLongestNs = 3660.0 * 24 * 3600e9;

}  // namespace

absl::StatusOr<std::int64_t> parse_duration(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  if (absl::SimpleAtod(std::string(text.substr(0, end)), &number)) {
    for (const auto& [unit, factor] : kUnits) {
      if (text.substr(end) == unit && number * factor >= 1 && number * factor <= kLongestNs) {
        return static_cast<std::int64_t>(std::llround(number * factor));
      }
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("duration `",
                   std::string(text),
                   "`: expected a positive number with a unit, as in 500ms, 2s, 5m or 30d, at most "
                   "3660d"));
}

absl::StatusOr<std::int64_t> parse_duration(const std::string& option, std::string_view text) {
  const auto parsed = text.empty() ? absl::StatusOr<std::int64_t>(0) : parse_duration(text);
  return parsed.ok() ? parsed : proto::annotate(parsed.status(), option);
}

absl::StatusOr<double> parse_effect(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  double number = 0;
  if (absl::SimpleAtod(std::string(text.substr(0, text.size() - (is_percent ? 1 : 0))), &number)) {
    number = is_percent ? number / 100 : number;
    if (number > 0 && number <= 0.5) {
      return number;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "effect `", std::string(text), "`: expected a share in (0, 0.5], as in 1% or 0.01"));
}

absl::StatusOr<double> parse_effect(const std::string& option, std::string_view text) {
  const auto parsed = text.empty() ? absl::StatusOr<double>(0.0) : parse_effect(text);
  return parsed.ok() ? parsed : proto::annotate(parsed.status(), option);
}

}  // namespace assay::client
