#include "proto/numbers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::proto {
namespace {

// `text` is a plain decimal, with or without a point.
std::string group_thousands(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string grouped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > first && i < point && (point - i) % 3 == 0) {
      grouped += ',';
    }
    grouped += text[i];
  }
  return grouped;
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value == 0.0) {
    return "0";
  }
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return group_thousands(absl::StrFormat("%.*f", std::max(0, digits - before_point), value));
}

// With the largest prefix that leaves at least 1 before the point.
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000.0;
    ++prefix;
  }
  return absl::StrCat(
      significant(value, 3), " ", std::string(kPrefixes[prefix]), std::string(unit));
}

}  // namespace

std::string counted(std::int64_t num, std::string_view thing) {
  return absl::StrCat(with_commas(num), " ", std::string(thing), num == 1 ? "" : "s");
}

std::string in_microseconds(std::int64_t value_ns) {
  return significant(static_cast<double>(value_ns) / 1e3, 4);
}

std::string ratio_text(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.3f", value) : "-";
}

std::string estimate_text(double value) {
  return std::isfinite(value) ? absl::StrCat("about ", significant(value, 2)) : "-";
}

std::string interval_text(double low, double high) {
  return absl::StrCat("[", ratio_text(low), ", ", ratio_text(high), "]");
}

std::string raw_number_text(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.9g", value) : "";
}

std::string percent_text(double share) {
  return std::isfinite(share) ? absl::StrCat(significant(share * 100.0, 2), " %") : "-";
}

std::string quantity_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (unit == "bytes/s" || unit == "bytes") {
    return with_prefix(value, unit == "bytes" ? "B" : "B/s");
  }
  if (unit == "flop/s" || unit == "flop") {
    return with_prefix(value, unit == "flop" ? "FLOP" : "FLOP/s");
  }
  if (unit == "share") {
    return percent_text(value);
  }
  if (unit == "ns") {
    return std::abs(value) < 1000.0 ? absl::StrCat(significant(value, 3), " ns")
                                    : absl::StrCat(significant(value / 1e3, 3), " us");
  }
  return absl::StrCat(significant(value, 4), unit.empty() ? "" : " ", std::string(unit));
}

std::string duration_text(std::int64_t value_ns) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  if (value_ns >= kMinute) {
    return absl::StrCat(
        with_commas(value_ns / kMinute), " min ", value_ns % kMinute / 1'000'000'000, " s");
  }
  const auto value = static_cast<double>(value_ns);
  if (value_ns >= 1'000'000'000) {
    return absl::StrCat(significant(value / 1e9, 2), " s");
  }
  if (value_ns >= 1'000'000) {
    return absl::StrCat(significant(value / 1e6, 2), " ms");
  }
  return absl::StrCat(significant(value / 1e3, 2), " us");
}

std::string time_text(std::int64_t since_epoch_ns) {
  if (since_epoch_ns == 0) {
    return "-";
  }
  return absl::FormatTime(
      "%Y-%m-%d %H:%M:%S", absl::FromUnixNanos(since_epoch_ns), absl::UTCTimeZone());
}

std::string bytes_text(std::int64_t value_bytes) {
  auto value = static_cast<double>(value_bytes);
  for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
    if (value < 1024.0) {
      return absl::StrCat(significant(value, 3), " ", unit);
    }
    value /= 1024.0;
  }
  return absl::StrCat(significant(value, 3), " TiB");
}

std::string digest_prefix(std::string_view digest) {
  return std::string(digest.substr(0, 8));
}

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // U+0080 to U+009F are controls as well, and terminals obey them.
    const bool is_long_control = byte == 0xC2 && next >= 0x80 && next <= 0x9F;
    line += byte < 0x20 || byte == 0x7F || is_long_control ? ' ' : text[i];
    i += is_long_control ? 1 : 0;
  }
  return line;
}

}  // namespace assay::proto
