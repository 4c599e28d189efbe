#include "client/non_finite.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

#include <array>
#include <cctype>
#include <cstddef>

namespace assay::client {
namespace {

// The length of the word at `place` where it is one of those; else 0.
std::size_t length_at(absl::string_view text, std::size_t place) {
  const std::size_t sign = text[place] == '-' || text[place] == '+' ? 1 : 0;
  constexpr std::array<absl::string_view, 3> kWords = {"infinity", "inf", "nan"};
  for (const absl::string_view word : kWords) {
    const std::size_t end = place + sign + word.size();
    if (absl::EqualsIgnoreCase(text.substr(place + sign, word.size()), word) &&
        (end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0)) {
      return sign + word.size();
    }
  }
  return 0;
}

bool may_begin(char c) {
  return c == '-' || c == '+' || c == 'n' || c == 'N' || c == 'i' || c == 'I';
}

}  // namespace

std::int64_t replace_non_finite(std::string& text) {
  std::string replaced;
  std::int64_t num = 0;
  std::size_t copied = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && in_string) {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && may_begin(text[i])) {
      const std::size_t length = i + 1 < text.size() ? length_at({text.data(), text.size()}, i) : 0;
      if (length > 0) {
        replaced.append(text, copied, i - copied).append("null");
        i += length - 1;
        copied = i + 1;
        ++num;
      }
    }
  }
  if (num > 0) {
    text = replaced.append(text, copied);
  }
  return num;
}

}  // namespace assay::client
