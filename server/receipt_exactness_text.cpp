#include "proto/bits_text.h"
#include "proto/numbers.h"
#include "proto/text.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <map>
#include <set>

namespace assay::server {
namespace {

// The arm whose bits decide about a row.
const v1::ReceiptArm& decisive(const v1::ReceiptRow& row) {
  return row.has_candidate() && !row.verdict().rejected_baseline() ? row.candidate()
                                                                   : row.baseline();
}

std::string bold(const std::string& text) {
  return absl::StrCat("**", text, "**");
}

std::string bits_cell(const v1::ReceiptRow& row) {
  if (row.outcome() != v1::FINISHED) {
    return bold(proto::spoken(v1::Outcome_Name(row.outcome())));
  }
  const v1::BitsCheck failed = row.verdict().rejected_by() != v1::BITS_CHECK_UNSPECIFIED
                                   ? row.verdict().rejected_by()
                                   : decisive(row).bits().failed();
  if (failed != v1::BITS_CHECK_UNSPECIFIED) {
    return bold(
        absl::StrCat(row.verdict().rejected_baseline() ? "A: " : "", proto::failure_text(failed)));
  }
  if (!row.has_candidate()) {
    return "passed";
  }
  // Digests alone are no verdict on bits.
  if (!row.has_verdict()) {
    return "none then";
  }
  return row.verdict().bits_equal() ? "equal" : "not equal";
}

std::string tolerance_cell(const v1::ReceiptArm& arm) {
  const v1::BitsReport& bits = arm.bits();
  if (!bits.tolerance_known()) {
    return "-";
  }
  return share_text(bits.tolerance_used()) + (bits.tolerance_alarm() ? " **alarm**" : "");
}

// The arm that uses more of its tolerance.
const v1::ReceiptArm& worse(const v1::ReceiptRow& row) {
  const bool is_candidate =
      row.candidate().bits().tolerance_known() &&
      row.candidate().bits().tolerance_used() > row.baseline().bits().tolerance_used();
  return is_candidate ? row.candidate() : row.baseline();
}

std::string summary(const v1::ReceiptExperiment& experiment) {
  std::int64_t num_equal = 0;
  std::int64_t num_without_verdict = 0;
  std::int64_t num_alarms = 0;
  std::map<std::string, std::int64_t> goldens;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    num_equal += row.outcome() == v1::FINISHED && row.verdict().bits_equal() ? 1 : 0;
    num_without_verdict += row.outcome() == v1::FINISHED && !row.has_verdict() ? 1 : 0;
    num_alarms +=
        row.baseline().bits().tolerance_alarm() || row.candidate().bits().tolerance_alarm() ? 1 : 0;
    if (!row.verdict().golden().empty()) {
      ++goldens[row.verdict().golden()];
    }
  }
  std::string text = proto::counted(experiment.rows_size(), "configuration");
  const std::int64_t num_with_verdict = experiment.rows_size() - num_without_verdict;
  if (is_judged(experiment) && num_with_verdict > 0) {
    absl::StrAppend(&text,
                    ", bits equal in ",
                    proto::with_commas(num_equal),
                    " of ",
                    proto::with_commas(num_with_verdict));
  }
  if (is_judged(experiment) && num_without_verdict > 0) {
    absl::StrAppend(
        &text, ", ", proto::with_commas(num_without_verdict), " without a verdict then");
  }
  if (!goldens.empty()) {
    absl::StrAppend(
        &text, "; goldens: ", absl::StrJoin(goldens, ", ", [](std::string* out, const auto& each) {
          absl::StrAppend(out, proto::with_commas(each.second), " ", markdown_prose(each.first));
        }));
  }
  if (num_alarms > 0) {
    absl::StrAppend(&text,
                    "; **tolerance alarm in ",
                    proto::counted(num_alarms, "configuration"),
                    "**: more than the formats explain");
  }
  return text + ".\n\n";
}

MarkdownTable row_table(const v1::ReceiptExperiment& experiment, const RowNames& names) {
  MarkdownTable table;
  names.add_columns(table);
  const bool judged = is_judged(experiment);
  table.columns.insert(table.columns.end(), {{"bits"}, {"golden"}});
  if (judged) {
    table.columns.push_back({"A of tolerance", true});
  }
  table.columns.insert(table.columns.end(),
                       {{judged ? "B of tolerance" : "of tolerance", true}, {"worst at"}});
  for (const v1::ReceiptRow& row : experiment.rows()) {
    std::vector<std::string> cells = names.cells(row);
    cells.push_back(bits_cell(row));
    cells.push_back(row.verdict().golden().empty() ? "-" : markdown_prose(row.verdict().golden()));
    cells.push_back(tolerance_cell(row.baseline()));
    if (judged) {
      cells.push_back(tolerance_cell(row.candidate()));
    }
    cells.push_back(markdown_code(worse(row).bits().tolerance_place()));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// "; WHAT" unless the text says it already.
void append_unless_said(std::string& text, const std::string& what) {
  if (!what.empty() && text.find(what) == std::string::npos) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", what);
  }
}

// What was seen of a row that failed: the first element that differs, with both values as bits.
std::string failures_text(const v1::ReceiptExperiment& experiment) {
  std::string text;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    std::string seen = row.verdict().verdict() == v1::REJECTED ? row.verdict().reason() : "";
    for (const v1::ReceiptArm* arm : {&row.baseline(), &row.candidate()}) {
      const v1::BitsReport& bits = arm->bits();
      if (bits.failed() != v1::BITS_CHECK_UNSPECIFIED) {
        append_unless_said(seen, bits.detail());
        seen = proto::detail_text(seen, bits.drift());
      }
    }
    if (!seen.empty()) {
      absl::StrAppend(&text, "- ", row.configuration(), ": ", markdown_prose(seen), "\n");
    }
  }
  return text.empty() ? "" : text + "\n";
}

bool has_same_outputs(const v1::ReceiptArm& a, const v1::ReceiptArm& b) {
  if (a.outputs_size() != b.outputs_size()) {
    return false;
  }
  for (int i = 0; i < a.outputs_size(); ++i) {
    if (a.outputs(i).digest() != b.outputs(i).digest()) {
      return false;
    }
  }
  return true;
}

// Of each workload once; those of a candidate where they are others.
std::string digests_text(const v1::ReceiptExperiment& experiment, const RowNames& names) {
  MarkdownTable table{
      {{"workload"}, {"of"}, {"tensor"}, {"type, shape"}, {"non-trivial", true}, {"digest"}}, {}};
  std::set<std::vector<std::string>> seen;
  const auto add =
      [&](const v1::ReceiptRow& row, const v1::ReceiptArm& arm, const std::string& of) {
        for (const v1::TensorDigest& tensor : arm.outputs()) {
          std::vector<std::string> cells = {markdown_code(names.workload(row)),
                                            of,
                                            markdown_code(tensor.tensor()),
                                            markdown_prose(shape_text(tensor)),
                                            proto::with_commas(tensor.num_nontrivial()),
                                            markdown_code(tensor.digest())};
          if (seen.insert(cells).second) {
            table.rows.push_back(std::move(cells));
          }
        }
      };
  for (const v1::ReceiptRow& row : experiment.rows()) {
    add(row, row.baseline(), "A");
    if (!has_same_outputs(row.baseline(), row.candidate())) {
      add(row, row.candidate(), absl::StrCat("B of ", row.configuration()));
    }
  }
  const std::string text = table.text();
  return text.empty() ? ""
                      : "Digests of what was written, of B where it wrote other bytes:\n\n" + text;
}

}  // namespace

std::string exactness_section(const v1::ReceiptExperiment& experiment) {
  if (experiment.rows().empty()) {
    return "";
  }
  const RowNames names(experiment);
  BucketTable buckets;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    for (const v1::ReceiptArm* arm : {&row.baseline(), &row.candidate()}) {
      buckets.add(proto::text_of(arm->arm()) + " on " + proto::text_of(row.workload()),
                  arm->bits().tolerance_buckets());
    }
  }
  return absl::StrCat("#### Exactness\n\n",
                      summary(experiment),
                      row_table(experiment, names).text(),
                      failures_text(experiment),
                      buckets.text(),
                      digests_text(experiment, names));
}

}  // namespace assay::server
