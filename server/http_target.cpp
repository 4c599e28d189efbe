#include "server/http_target.h"

#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <cctype>

namespace assay::server {
namespace {

int hex_value(char digit) {
  if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) {
    return -1;
  }
  return std::isdigit(static_cast<unsigned char>(digit)) != 0
             ? digit - '0'
             : std::tolower(static_cast<unsigned char>(digit)) - 'a' + 10;
}

absl::Status check_text(std::string_view text) {
  if (!proto::is_utf8(text) || text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("the address holds a byte 0, or what is no UTF-8");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char letter = text[i];
    if (letter == '%') {
      const bool has_digits = text.size() - i > 2;
      const int high = has_digits ? hex_value(text[i + 1]) : -1;
      const int low = has_digits ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "`", std::string(text), "`: a percent sign needs two hexadecimal digits after it"));
      }
      letter = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (letter == '+' && plus_is_space) {
      letter = ' ';
    }
    decoded += letter;
  }
  ASSAY_RETURN_IF_ERROR(check_text(decoded));
  return decoded;
}

}  // namespace

absl::StatusOr<HttpTarget> parse_target(std::string_view target) {
  if (!target.starts_with('/')) {
    return absl::InvalidArgumentError(
        "the address must begin with a slash: /v1/METHOD?field=value");
  }
  ASSAY_RETURN_IF_ERROR(check_text(target));
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  HttpTarget parsed;
  ASSAY_ASSIGN_OR_RETURN(parsed.path, decode(target.substr(0, mark), false));
  if (mark == std::string_view::npos) {
    return parsed;
  }
  const std::string query(target.substr(mark + 1));
  for (const std::string& pair : std::vector<std::string>(absl::StrSplit(query, '&'))) {
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    ASSAY_ASSIGN_OR_RETURN(std::string name,
                           decode(std::string_view(pair).substr(0, equals), true));
    std::string value;
    if (equals != std::string::npos) {
      ASSAY_ASSIGN_OR_RETURN(value, decode(std::string_view(pair).substr(equals + 1), true));
    }
    parsed.query.emplace_back(std::move(name), std::move(value));
  }
  return parsed;
}

}  // namespace assay::server
