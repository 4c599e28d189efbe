#include "proto/golden_text.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <array>

namespace assay::proto {
namespace {

constexpr char kHeader[] = "# assay goldens 1";
constexpr std::size_t kDigestDigits = 32;
constexpr std::array<const char*, 6> kColumns = {
    "operator_name", "workload", "tensor", "family", "domain", "digest"};

using Fields = std::array<std::string, kColumns.size()>;

Fields fields_of(const v1::Golden& golden) {
  return {golden.operator_name(),
          golden.workload(),
          golden.tensor(),
          golden.family(),
          golden.domain(),
          golden.digest()};
}

v1::Golden golden_of(const Fields& fields) {
  v1::Golden golden;
  golden.set_operator_name(fields[0]);
  golden.set_workload(fields[1]);
  golden.set_tensor(fields[2]);
  golden.set_family(fields[3]);
  golden.set_domain(fields[4]);
  golden.set_digest(fields[5]);
  return golden;
}

bool is_same_key(const Fields& a, const Fields& b) {
  return std::equal(a.begin(), a.end() - 1, b.begin());
}

// INVALID_ARGUMENT "column 6 (digest): why".
absl::Status check_fields(const Fields& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const auto fail = [&](std::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", i + 1, " (", kColumns[i], "): ", std::string(why)));
    };
    if (field.empty()) {
      return fail("is empty");
    }
    if (std::ranges::any_of(field, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      return fail("has a control character");
    }
  }
  if (fields[0][0] == '#') {
    return absl::InvalidArgumentError("column 1 (operator_name): begins with #");
  }
  const std::string& digest = fields.back();
  if (digest.size() != kDigestDigits ||
      digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "column 6 (digest): must be ", kDigestDigits, " lower-case hexadecimal digits"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Fields> parse_line(const std::string& line) {
  const std::vector<std::string> parts = absl::StrSplit(line, '\t');
  if (parts.size() != kColumns.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have ", kColumns.size(), " columns, has ", parts.size()));
  }
  Fields fields;
  std::ranges::copy(parts, fields.begin());
  ASSAY_RETURN_IF_ERROR(check_fields(fields));
  return fields;
}

}  // namespace

absl::StatusOr<std::vector<v1::Golden>> parse_goldens(std::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  if (lines.front() != kHeader) {
    return absl::InvalidArgumentError(absl::StrCat("line 1: must be `", kHeader, "`"));
  }
  // The last line ends like the others.
  if (lines.size() > 1 && lines.back().empty()) {
    lines.pop_back();
  }
  std::vector<v1::Golden> goldens;
  Fields previous;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].starts_with('#')) {
      continue;
    }
    const auto fail = [&](const std::string& why) {
      return absl::InvalidArgumentError(absl::StrCat("line ", i + 1, ": ", why));
    };
    absl::StatusOr<Fields> fields = parse_line(lines[i]);
    if (!fields.ok()) {
      // "line 7, column 6 (digest): why"
      const std::string why(fields.status().message());
      return why.starts_with("column")
                 ? absl::InvalidArgumentError(absl::StrCat("line ", i + 1, ", ", why))
                 : fail(why);
    }
    if (!goldens.empty() && is_same_key(previous, *fields)) {
      return fail("has the key of the golden before");
    }
    if (!goldens.empty() && *fields < previous) {
      return fail("is out of order: lines must be sorted");
    }
    goldens.push_back(golden_of(*fields));
    previous = *std::move(fields);
  }
  return goldens;
}

absl::StatusOr<std::string> format_goldens(std::vector<v1::Golden> goldens) {
  std::ranges::sort(goldens, {}, fields_of);
  std::string text = absl::StrCat(kHeader, "\n");
  Fields previous;
  for (const v1::Golden& golden : goldens) {
    const Fields fields = fields_of(golden);
    const std::string line = absl::StrJoin(fields, "\t");
    ASSAY_RETURN_IF_ERROR(annotate(check_fields(fields), absl::StrCat("golden `", line, "`")));
    if (is_same_key(previous, fields)) {
      return absl::InvalidArgumentError(
          absl::StrCat("golden `", line, "`: its key is there twice"));
    }
    absl::StrAppend(&text, line, "\n");
    previous = fields;
  }
  return text;
}

}  // namespace assay::proto
