#include "server/markdown.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace assay::server {
namespace {

bool is_word(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// An underscore between two letters emphasises nothing.
bool is_within_word(std::string_view text, std::size_t place) {
  return place > 0 && place + 1 < text.size() && is_word(text[place - 1]) &&
         is_word(text[place + 1]);
}

bool needs_escape(std::string_view text, std::size_t place) {
  const char c = text[place];
  return c == '_' ? !is_within_word(text, place)
                  : std::string_view("\\`*[]<>|~#&").find(c) != std::string_view::npos;
}

}  // namespace

std::string markdown_code(std::string_view text) {
  if (text.empty()) {
    return "-";
  }
  if (text.find_first_of("`|\\") == std::string_view::npos) {
    return absl::StrCat("`", std::string(text), "`");
  }
  std::string code = "<code>";
  for (const char c : text) {
    if (is_word(c) || c == ' ') {
      code += c;
    } else {
      absl::StrAppend(&code, "&#", static_cast<int>(c), ";");
    }
  }
  return code + "</code>";
}

std::string markdown_prose(std::string_view text) {
  // Mentions and formulas cannot be escaped.
  if (text.find_first_of("@$") != std::string_view::npos) {
    return markdown_code(text);
  }
  std::string prose;
  for (std::size_t i = 0; i < text.size(); ++i) {
    prose += needs_escape(text, i) ? "\\" : "";
    prose += text[i];
  }
  return prose;
}

std::string MarkdownTable::text() const {
  if (rows.empty()) {
    return "";
  }
  std::string names = "|";
  std::string rule = "|";
  for (const MarkdownColumn& column : columns) {
    absl::StrAppend(&names, " ", column.name, " |");
    rule += column.is_right ? "---:|" : "---|";
  }
  std::string text = absl::StrCat(names, "\n", rule, "\n");
  for (const std::vector<std::string>& row : rows) {
    text += "|";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      absl::StrAppend(&text, " ", i < row.size() ? row[i] : "", " |");
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace assay::server
