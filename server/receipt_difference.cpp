#include "server/receipt_difference.h"

#include "proto/status.h"
#include "server/receipt.h"
#include "server/receipt_markdown.h"
#include "tuning/content_digest.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/message_differencer.h"

#include <algorithm>

namespace assay::server {
namespace {

using Lines = std::vector<std::string>;

std::string says(const std::string& where, const std::string& found, const std::string& stored) {
  return absl::StrCat(where,
                      ": the receipt says ",
                      found.empty() ? "nothing" : found,
                      ", stored is ",
                      stored.empty() ? "nothing" : stored);
}

// From the heading to the line of the digest, whatever stands around them; empty: there is none.
Lines receipt_lines(std::string_view markdown) {
  Lines lines;
  for (const std::string& raw : Lines(absl::StrSplit(std::string(markdown), '\n'))) {
    const std::string line(absl::StripTrailingAsciiWhitespace(raw));
    if (lines.empty() && line != kReceiptHeading) {
      continue;
    }
    lines.push_back(line);
    if (line.starts_with(std::string(kReceiptDigestLine))) {
      return lines;
    }
  }
  return {};
}

// Of the receipts in a text, quoted or indented ones too: only one of them would be looked at.
std::int64_t num_headings(std::string_view markdown) {
  const Lines lines = absl::StrSplit(std::string(markdown), '\n');
  return std::ranges::count_if(lines, [](const std::string& line) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t>"), line.size());
    return std::string(absl::StripTrailingAsciiWhitespace(line.substr(begin))) == kReceiptHeading;
  });
}

// What stands in backticks behind `begin`; empty: it is not there.
std::string code_after(const std::string& line, std::string_view begin) {
  const std::size_t place = line.find(std::string(begin) + "`");
  if (place == std::string::npos) {
    return "";
  }
  const std::size_t start = place + begin.size() + 1;
  return line.substr(start, line.find('`', start) - start);
}

absl::Status check_name(const std::string& name, const std::string& where) {
  return tuning::is_content_digest(name)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   absl::StrCat(where, ": must be 32 lower-case hexadecimal digits"));
}

absl::Status check_names(const ReceiptNames& names) {
  if (names.requests.empty() ||
      names.requests.size() > static_cast<std::size_t>(kMaxReceiptExperiments)) {
    return absl::InvalidArgumentError(
        absl::StrCat("experiments: a receipt has 1 to ", kMaxReceiptExperiments));
  }
  if (names.judged_until_ns < 0) {
    return absl::InvalidArgumentError("judged_until_ns: must not be negative");
  }
  for (std::size_t i = 0; i < names.requests.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        check_name(names.requests[i], absl::StrCat("experiments[", i, "].request")));
    if (std::count(names.requests.begin(), names.requests.end(), names.requests[i]) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("experiments[", i, "].request: is there twice"));
    }
  }
  return absl::OkStatus();
}

// Cells between the unescaped bars of a table's row; empty: it is none.
Lines cells_of(const std::string& line) {
  Lines cells;
  if (!line.starts_with('|')) {
    return cells;
  }
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      cell += line.substr(i++, 2);
    } else if (line[i] == '|') {
      cells.emplace_back(absl::StripAsciiWhitespace(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

// The row that names the columns of the table around `place`.
Lines header_of(const Lines& lines, std::size_t place) {
  while (place > 0 && lines[place - 1].starts_with('|')) {
    --place;
  }
  return cells_of(lines[place]);
}

std::string line_difference(const Lines& found, const Lines& stored, std::size_t place) {
  const std::string where = absl::StrCat("line ", place + 1);
  const std::string one = place < found.size() ? found[place] : "";
  const std::string other = place < stored.size() ? stored[place] : "";
  const Lines cells = cells_of(one);
  const Lines wanted = cells_of(other);
  if (cells.empty() || cells.size() != wanted.size()) {
    return says(where, one, other);
  }
  const Lines header = header_of(stored, place);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != wanted[i]) {
      const std::string column = i < header.size() ? header[i] : absl::StrCat(i + 1);
      return says(absl::StrCat(where, ", column ", column), cells[i], wanted[i]);
    }
  }
  return says(where, one, other);
}

}  // namespace

absl::StatusOr<ReceiptNames> names_in(const v1::Receipt& receipt) {
  if (receipt.format_version() != kReceiptFormat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "format_version: is ", receipt.format_version(), ", this daemon makes ", kReceiptFormat));
  }
  ReceiptNames names;
  names.judged_until_ns = receipt.judged_until_ns();
  for (const v1::ReceiptExperiment& experiment : receipt.experiments()) {
    names.requests.push_back(experiment.request());
  }
  ASSAY_RETURN_IF_ERROR(check_names(names));
  return names;
}

absl::StatusOr<ReceiptNames> names_in(std::string_view markdown) {
  if (const std::int64_t num = num_headings(markdown); num > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("markdown: has the heading `",
                     std::string(kReceiptHeading),
                     "` ",
                     num,
                     " times: verify each receipt in a file of its own"));
  }
  const Lines lines = receipt_lines(markdown);
  if (lines.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("markdown: has no receipt: it begins with `",
                                                   std::string(kReceiptHeading),
                                                   "` and ends with a line `",
                                                   std::string(kReceiptDigestLine),
                                                   "...`"));
  }
  ReceiptNames names;
  if (code_after(lines.back(), kReceiptFormatIs) != absl::StrCat(kReceiptFormat)) {
    return absl::InvalidArgumentError(
        absl::StrCat("markdown: its last line names another format than ", kReceiptFormat));
  }
  if (!absl::SimpleAtoi(code_after(lines.back(), kReceiptJudgedUntil), &names.judged_until_ns)) {
    return absl::InvalidArgumentError("markdown: its last line names no time of verdicts");
  }
  for (const std::string& line : lines) {
    if (line.starts_with(std::string(kReceiptRequest))) {
      names.requests.push_back(code_after(line, kReceiptRequest));
    }
  }
  ASSAY_RETURN_IF_ERROR(check_names(names));
  return names;
}

std::string first_difference(const v1::Receipt& found, const v1::Receipt& stored) {
  // The digest is the last to be told: it differs with everything else.
  v1::Receipt a = found;
  v1::Receipt b = stored;
  a.clear_digest();
  b.clear_digest();
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  if (differencer.Compare(a, b)) {
    return found.digest() == stored.digest() ? "" : says("digest", found.digest(), stored.digest());
  }
  // "modified: PATH: FOUND -> STORED", "added: PATH: STORED", "deleted: PATH: FOUND".
  const std::string line = report.substr(0, report.find('\n'));
  const std::size_t path = line.find(": ") + 2;
  const std::size_t value = std::min(line.find(": ", path), line.size());
  const std::string where = line.substr(path, value - path);
  const std::string values = value < line.size() ? line.substr(value + 2) : "";
  if (line.starts_with("added")) {
    return says(where, "", values);
  }
  if (line.starts_with("deleted")) {
    return says(where, values, "");
  }
  const std::size_t arrow = values.find(" -> ");
  return arrow == std::string::npos
             ? absl::StrCat(where, ": ", values)
             : says(where, values.substr(0, arrow), values.substr(arrow + 4));
}

std::string first_difference(std::string_view found_markdown, std::string_view stored_markdown) {
  const Lines found = receipt_lines(found_markdown);
  const Lines stored = receipt_lines(stored_markdown);
  const std::size_t num = std::max(found.size(), stored.size());
  for (std::size_t i = 0; i < num; ++i) {
    if (i >= found.size() || i >= stored.size() || found[i] != stored[i]) {
      return line_difference(found, stored, i);
    }
  }
  return "";
}

}  // namespace assay::server
