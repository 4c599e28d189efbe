#include "client/query_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include <charconv>
#include <cmath>

namespace assay::client {
namespace {

// The shortest that reads back the same, and never like an integer.
std::string real_text(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const std::string text(std::begin(digits), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string text_of(const v1::QueryValue& value, std::string_view null) {
  switch (value.value_case()) {
    case v1::QueryValue::kInteger:
      return absl::StrCat(value.integer());
    case v1::QueryValue::kReal:
      return real_text(value.real());
    case v1::QueryValue::kText:
      return value.text();
    case v1::QueryValue::kBlob:
      return absl::BytesToHexString(value.blob());
    case v1::QueryValue::VALUE_NOT_SET:
      break;
  }
  return std::string(null);
}

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string json_of(const v1::QueryValue& value) {
  const bool is_text =
      value.has_text() || value.has_blob() || (value.has_real() && !std::isfinite(value.real()));
  const std::string text = text_of(value, "null");
  return is_text ? json_string(text) : text;
}

std::string csv_of(const v1::QueryValue& value) {
  return value.has_text() && value.text().empty() ? "\"\"" : csv_cell(text_of(value, ""));
}

bool is_number(const v1::QueryValue& value) {
  return value.has_integer() || value.has_real();
}

}  // namespace

void QueryText::add(const v1::QueryChunk& chunk) {
  for (const std::string& column : chunk.columns()) {
    columns_.push_back(format_ == Format::kJson ? json_string(column) : column);
    table_.columns.push_back({column});
  }
  if (format_ == Format::kCsv && !chunk.columns().empty()) {
    table_.rows.clear();
    out_ << csv_text(table_);
  }
  for (const v1::QueryRow& row : chunk.rows()) {
    add_row(row);
    ++num_rows_;
  }
  truncated_ = chunk.truncated();
}

void QueryText::add_row(const v1::QueryRow& row) {
  std::string line;
  switch (format_) {
    case Format::kJson:
      for (int i = 0; i < row.values_size(); ++i) {
        absl::StrAppend(&line,
                        i == 0 ? "{" : ",",
                        columns_.at(static_cast<std::size_t>(i)),
                        ":",
                        json_of(row.values(i)));
      }
      out_ << (num_rows_ == 0 ? "[\n" : ",\n") << line << "}";
      return;
    case Format::kCsv:
      for (int i = 0; i < row.values_size(); ++i) {
        absl::StrAppend(&line, i == 0 ? "" : ",", csv_of(row.values(i)));
      }
      out_ << line << "\n";
      return;
    case Format::kTable:
    case Format::kMarkdown:
      break;
  }
  std::vector<std::string>& cells = table_.rows.emplace_back();
  for (int i = 0; i < row.values_size(); ++i) {
    cells.push_back(text_of(row.values(i), "-"));
    if (num_rows_ == 0 && is_number(row.values(i))) {
      table_.columns.at(static_cast<std::size_t>(i)).align = Align::kRight;
    }
  }
}

void QueryText::finish() {
  if (format_ == Format::kJson) {
    out_ << (num_rows_ == 0 ? "[" : "\n") << "]\n";
  } else if (format_ != Format::kCsv) {
    out_ << table_text(table_, format_);
  }
  out_ << std::flush;
}

}  // namespace assay::client
