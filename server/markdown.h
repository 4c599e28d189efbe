// GitHub's Markdown out of text that may hold anything printable: none of it becomes markup, a
// mention or a link.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

// Literal: a code span, or <code> with entities where a span cannot hold it; "-" for an empty text.
std::string markdown_code(std::string_view text);

// A sentence. What prose cannot keep from acting comes literal.
std::string markdown_prose(std::string_view text);

struct MarkdownColumn {
  std::string name;
  bool is_right = false;
};

// Cells are Markdown already; missing ones are empty.
struct MarkdownTable {
  std::vector<MarkdownColumn> columns;
  std::vector<std::vector<std::string>> rows;

  // Empty without rows; ends with a blank line.
  std::string text() const;
};

}  // namespace assay::server
