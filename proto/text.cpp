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

}  // namespace assay::proto
