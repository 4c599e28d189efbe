#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <cctype>

namespace assay::proto {

std::string text_of(const v1::Workload& workload) {
  std::string text;
  for (const v1::Setting& axis : workload.axes()) {
    absl::StrAppend(&text, axis.name(), "=", axis.value(), ",");
  }
  return absl::StrCat(text, "seed=", workload.seed());
}

std::string text_of(const v1::Arm& arm) {
  std::string text = arm.variant();
  char separator = ':';
  for (const v1::Setting& parameter : arm.parameters()) {
    text += separator;
    absl::StrAppend(&text, parameter.name(), "=", parameter.value());
    separator = ',';
  }
  return text;
}

absl::StatusOr<v1::Arm> parse_arm(std::string_view text) {
  const auto fail = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        "arm `", std::string(text), "`: expected VARIANT or VARIANT:PARAMETER=VALUE,..."));
  };
  v1::Arm arm;
  const std::size_t colon = text.find(':');
  arm.set_variant(std::string(text.substr(0, colon)));
  if (arm.variant().empty()) {
    return fail();
  }
  if (colon == std::string_view::npos) {
    return arm;
  }
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(std::string(text.substr(colon + 1)), ','))) {
    const std::vector<std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty()) {
      return fail();
    }
    v1::Setting& parameter = *arm.add_parameters();
    parameter.set_name(sides[0]);
    parameter.set_value(sides[1]);
  }
  return arm;
}

std::string with_commas(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t place = 0; place < digits.size(); ++place) {
    const bool is_group = place > 0 && (digits.size() - place) % 3 == 0;
    if (is_group && digits[place - 1] != '-') {
      text += ',';
    }
    text += digits[place];
  }
  return text;
}

std::string spoken(std::string_view enum_name) {
  std::string text(enum_name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return text;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) {
      return false;
    }
    for (std::size_t j = 1; j < length; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0U) != 0x80) {
        return false;
      }
    }
    const auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace assay::proto
