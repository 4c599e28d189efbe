// A table of text cells in four forms. Cells hold what people or programs read; nothing is
// converted here.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

enum class Format { kTable, kMarkdown, kCsv, kJson };

// INVALID_ARGUMENT lists the valid names.
absl::StatusOr<Format> parse_format(std::string_view name);

enum class Align { kLeft, kRight };

struct Column {
  std::string name;
  Align align = Align::kLeft;
};

// Every row has as many cells as there are columns; missing ones are empty.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// Aligned with two blanks between columns; control characters of cells become blanks.
std::string aligned_text(const Table& table);

// A table of GitHub's Markdown.
std::string markdown_text(const Table& table);

// RFC 4180 with a header line and line feeds; control characters stay.
std::string csv_text(const Table& table);

// One cell of it, in quotes where it needs them.
std::string csv_cell(std::string_view text);

// One of the three above; JSON has no table form and gives the aligned one.
std::string table_text(const Table& table, Format format);

// Free text that Markdown and HTML must not take as their own.
std::string markdown_escaped(std::string_view text);

}  // namespace assay::client
