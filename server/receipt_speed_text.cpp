#include "proto/numbers.h"
#include "proto/text.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>

namespace assay::server {
namespace {

constexpr char kTotal[] = "total";

// A rejected row shows no time, whatever was measured before.
bool shows_times(const v1::ReceiptRow& row) {
  return row.outcome() == v1::FINISHED && row.verdict().verdict() != v1::REJECTED &&
         !row.verdict().stages().empty();
}

const v1::StageVerdict* stage_of(const v1::ReceiptRow& row, const std::string& name) {
  const auto& stages = row.verdict().stages();
  const auto found = std::ranges::find_if(
      stages, [&name](const v1::StageVerdict& stage) { return stage.stage() == name; });
  return !shows_times(row) || found == stages.end() ? nullptr : &*found;
}

// Of all rows, in the order of the first that has it.
std::vector<std::string> stages_of(const v1::ReceiptExperiment& experiment) {
  std::vector<std::string> names;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    for (const v1::StageVerdict& stage : row.verdict().stages()) {
      if (shows_times(row) && std::ranges::find(names, stage.stage()) == names.end()) {
        names.push_back(stage.stage());
      }
    }
  }
  return names;
}

std::string time_cell(std::int64_t value_ns) {
  return value_ns > 0 ? proto::in_microseconds(value_ns) : "-";
}

std::string quartiles_cell(std::int64_t low_ns, std::int64_t high_ns) {
  return low_ns > 0
             ? absl::StrCat(proto::in_microseconds(low_ns), " to ", proto::in_microseconds(high_ns))
             : "-";
}

// The verdict of a stage stands with its ratio where it is not that of the call.
std::string ratio_cell(const v1::ReceiptRow& row, const v1::StageVerdict& stage) {
  if (!stage.has_ratio()) {
    return "-";
  }
  std::string text = absl::StrCat(proto::ratio_text(stage.ratio()),
                                  " ",
                                  proto::interval_text(stage.ratio_low(), stage.ratio_high()));
  if (stage.stage() != kTotal && stage.verdict() != row.verdict().verdict()) {
    absl::StrAppend(&text, ", ", proto::spoken(v1::VerdictKind_Name(stage.verdict())));
  }
  return text;
}

std::string verdict_cell(const v1::ReceiptRow& row) {
  if (row.outcome() != v1::FINISHED) {
    return absl::StrCat("**", proto::spoken(v1::Outcome_Name(row.outcome())), "**");
  }
  if (!row.has_verdict()) {
    return "none then";
  }
  const std::string text = proto::spoken(v1::VerdictKind_Name(row.verdict().verdict()));
  return row.verdict().verdict() == v1::REJECTED ? absl::StrCat("**", text, "**") : text;
}

std::string floor_cell(const v1::ReceiptArm& arm, std::int64_t median_ns) {
  return arm.floor_ns() > 0 && median_ns > 0
             ? proto::percent_text(static_cast<double>(arm.floor_ns()) /
                                   static_cast<double>(median_ns))
             : "-";
}

class SpeedTable {
 public:
  explicit SpeedTable(const v1::ReceiptExperiment& experiment)
      : experiment_(experiment),
        is_judged_(is_judged(experiment)),
        has_floor_(std::ranges::any_of(
            experiment.rows(),
            [](const v1::ReceiptRow& row) { return row.baseline().floor_ns() > 0; })),
        names_(experiment),
        stages_(stages_of(experiment)) {}

  std::string text() {
    names_.add_columns(table_);
    for (const std::string& stage : stages_) {
      const std::string name = markdown_prose(stage);
      if (is_judged_) {
        table_.columns.insert(
            table_.columns.end(),
            {{name + " A us", true}, {name + " B us", true}, {name + " B/A", true}});
      } else {
        table_.columns.insert(table_.columns.end(),
                              {{name + " us", true}, {name + " quartiles us", true}});
      }
    }
    if (has_floor_) {
      table_.columns.push_back({is_judged_ ? "A of floor" : "of floor", true});
    }
    if (has_floor_ && is_judged_) {
      table_.columns.push_back({"B of floor", true});
    }
    table_.columns.push_back({is_judged_ ? "verdict" : "result"});
    for (const v1::ReceiptRow& row : experiment_.rows()) {
      add(row);
    }
    return table_.text();
  }

 private:
  void add(const v1::ReceiptRow& row) {
    std::vector<std::string> cells = names_.cells(row);
    for (const std::string& name : stages_) {
      const v1::StageVerdict* stage = stage_of(row, name);
      const v1::StageVerdict& found =
          stage == nullptr ? v1::StageVerdict::default_instance() : *stage;
      cells.push_back(time_cell(found.baseline_median_ns()));
      if (is_judged_) {
        cells.push_back(time_cell(found.candidate_median_ns()));
        cells.push_back(ratio_cell(row, found));
      } else {
        cells.push_back(
            quartiles_cell(found.baseline_lower_quartile_ns(), found.baseline_upper_quartile_ns()));
      }
    }
    const v1::StageVerdict* total = stage_of(row, kTotal);
    if (has_floor_) {
      cells.push_back(
          floor_cell(row.baseline(), total == nullptr ? 0 : total->baseline_median_ns()));
    }
    if (has_floor_ && is_judged_) {
      cells.push_back(
          floor_cell(row.candidate(), total == nullptr ? 0 : total->candidate_median_ns()));
    }
    cells.push_back(is_judged_ || row.outcome() != v1::FINISHED ? verdict_cell(row) : "measured");
    table_.rows.push_back(std::move(cells));
  }

  const v1::ReceiptExperiment& experiment_;
  bool is_judged_;
  bool has_floor_;
  RowNames names_;
  std::vector<std::string> stages_;
  MarkdownTable table_;
};

// What a reader must know of one arm of a row.
std::string arm_notes(const v1::ReceiptRow& row,
                      const v1::ReceiptArm& arm,
                      const std::string& name) {
  std::string text;
  if (arm.num_disqualified_blocks() > 0) {
    absl::StrAppend(&text,
                    "- ",
                    row.configuration(),
                    ": ",
                    proto::with_commas(arm.num_disqualified_blocks()),
                    " of ",
                    proto::counted(arm.num_blocks(), "block"),
                    " of ",
                    name,
                    " disqualified: ",
                    markdown_prose(absl::StrJoin(arm.disqualified_because(), ", ")),
                    "\n");
  }
  if (arm.num_lost_records() > 0) {
    absl::StrAppend(&text,
                    "- ",
                    row.configuration(),
                    ": ",
                    proto::counted(arm.num_lost_records(), "activity record"),
                    " of ",
                    name,
                    " had no usable time\n");
  }
  return text;
}

// Why rows are slower or undecided, and what was kept but not judged.
std::string notes_text(const v1::ReceiptExperiment& experiment) {
  std::string text;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    const v1::Verdict& verdict = row.verdict();
    const bool is_plain = verdict.verdict() == v1::FASTER || verdict.verdict() == v1::SAME ||
                          verdict.verdict() == v1::REJECTED;
    if (!verdict.reason().empty() && !is_plain && is_judged(experiment)) {
      absl::StrAppend(
          &text, "- ", row.configuration(), ": ", markdown_prose(verdict.reason()), "\n");
    }
    if (!row.message().empty() && row.outcome() == v1::FINISHED) {
      absl::StrAppend(&text,
                      "- ",
                      row.configuration(),
                      ": the compiler says: ",
                      markdown_code(row.message()),
                      "\n");
    }
    text += arm_notes(row, row.baseline(), "A") + arm_notes(row, row.candidate(), "B");
  }
  return text.empty() ? "" : text + "\n";
}

std::string counts_text(const v1::ReceiptExperiment& experiment) {
  std::map<std::string, std::int64_t> numbers;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    ++numbers[proto::spoken(row.outcome() != v1::FINISHED ? v1::Outcome_Name(row.outcome())
                            : row.has_verdict() ? v1::VerdictKind_Name(row.verdict().verdict())
                                                : std::string("without_verdict"))];
  }
  return absl::StrCat(proto::counted(experiment.rows_size(), "configuration"),
                      ": ",
                      absl::StrJoin(numbers,
                                    ", ",
                                    [](std::string* out, const auto& each) {
                                      absl::StrAppend(
                                          out, proto::with_commas(each.second), " ", each.first);
                                    }),
                      ".\n\n");
}

}  // namespace

std::string speed_section(const v1::ReceiptExperiment& experiment) {
  if (experiment.rows().empty()) {
    return "";
  }
  return absl::StrCat("#### Speed\n\n",
                      is_judged(experiment) ? counts_text(experiment) : "",
                      SpeedTable(experiment).text(),
                      notes_text(experiment));
}

}  // namespace assay::server
