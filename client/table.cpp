#include "client/table.h"

#include "client/numbers.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <functional>

namespace assay::client {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cell_of(const std::vector<std::string>& row, std::size_t column) {
  return column < row.size() ? row[column] : std::string();
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return align == Align::kRight ? blanks + text : text + blanks;
}

// The table with every cell passed through `prepare`, missing cells filled in.
Table prepared(const Table& table, const std::function<std::string(std::string_view)>& prepare) {
  Table result{table.columns, {}};
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string>& cells = result.rows.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      cells.push_back(prepare(cell_of(row, i)));
    }
  }
  return result;
}

std::vector<std::size_t> column_widths(const Table& table, std::size_t least) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = std::max(least, width_of(table.columns[i].name));
    for (const std::vector<std::string>& row : table.rows) {
      width = std::max(width, width_of(row[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> header_of(const Table& table) {
  std::vector<std::string> header;
  for (const Column& column : table.columns) {
    header.push_back(column.name);
  }
  return header;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

absl::StatusOr<Format> parse_format(std::string_view name) {
  if (name == "table") {
    return Format::kTable;
  }
  if (name == "markdown") {
    return Format::kMarkdown;
  }
  if (name == "csv") {
    return Format::kCsv;
  }
  if (name == "json") {
    return Format::kJson;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("format `", std::string(name), "`: expected one of csv, json, markdown, table"));
}

std::string aligned_text(const Table& raw) {
  const Table table = prepared(raw, one_line);
  const std::vector<std::size_t> widths = column_widths(table, 0);
  std::string text;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      absl::StrAppend(&line, i == 0 ? "" : "  ", padded(row[i], widths[i], table.columns[i].align));
    }
    absl::StrAppend(&text, line.substr(0, line.find_last_not_of(' ') + 1), "\n");
  };
  append(header_of(table));
  for (const std::vector<std::string>& row : table.rows) {
    append(row);
  }
  return text;
}

std::string markdown_text(const Table& raw) {
  const Table table = prepared(raw, markdown_escaped);
  const std::vector<std::size_t> widths = column_widths(table, 3);
  std::string text;
  const auto append = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      absl::StrAppend(&text, "| ", padded(row[i], widths[i], table.columns[i].align), " ");
    }
    absl::StrAppend(&text, "|\n");
  };
  append(header_of(table));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool right = table.columns[i].align == Align::kRight;
    absl::StrAppend(
        &text, "| ", std::string(widths[i] - (right ? 1 : 0), '-'), right ? ":" : "", " ");
  }
  absl::StrAppend(&text, "|\n");
  for (const std::vector<std::string>& row : table.rows) {
    append(row);
  }
  return text;
}

std::string csv_text(const Table& raw) {
  const Table table = prepared(raw, csv_cell);
  std::string text;
  const auto append = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ",", row[i]);
    }
    absl::StrAppend(&text, "\n");
  };
  append(header_of(table));
  for (const std::vector<std::string>& row : table.rows) {
    append(row);
  }
  return text;
}

std::string table_text(const Table& table, Format format) {
  switch (format) {
    case Format::kMarkdown:
      return markdown_text(table);
    case Format::kCsv:
      return csv_text(table);
    case Format::kTable:
    case Format::kJson:
      break;
  }
  return aligned_text(table);
}

std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '|' || c == '*') {
      absl::StrAppend(&escaped, "\\", std::string(1, c));
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace assay::client
