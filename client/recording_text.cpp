#include "client/recording_text.h"

#include "client/numbers.h"
#include "client/recorded_notes.h"
#include "client/report.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cmath>

namespace assay::client {
namespace {

using tuning::Ranking;
using tuning::Statistic;

// A row for each statistic that the file has.
Table best_table(const RecordedFile& file, Format format) {
  const bool raw = format == Format::kCsv;
  Table table{{{"statistic"},
               {raw ? "value_ns" : "us", Align::kRight},
               {raw ? "num_ties" : "ties", Align::kRight},
               {raw ? "num_ranked" : "of", Align::kRight},
               {raw ? "configuration" : "best"}},
              {}};
  for (const Statistic statistic : {Statistic::kMedian, Statistic::kMean, Statistic::kTime}) {
    const Ranking ranking = tuning::rank(file.rows, statistic);
    if (ranking.ties.empty()) {
      continue;
    }
    const tuning::RankedRow& best = ranking.ties.front();
    const auto num_ties = static_cast<std::int64_t>(ranking.ties.size()) - 1;
    const auto num_ranked = static_cast<std::int64_t>(ranking.num_ranked);
    table.rows.push_back(
        {tuning::statistic_name(statistic),
         raw ? raw_number_text(best.value_ns) : in_microseconds(std::llround(best.value_ns)),
         raw ? absl::StrCat(num_ties) : with_commas(num_ties),
         raw ? absl::StrCat(num_ranked) : with_commas(num_ranked),
         configuration_text(file.recording, file.rows[best.row])});
  }
  return table;
}

}  // namespace

std::string failures_text(const Ranking& ranking) {
  std::vector<std::string> parts;
  for (const auto& [failure, num] : ranking.failures) {
    parts.push_back(absl::StrCat(with_commas(static_cast<std::int64_t>(num)),
                                 " ",
                                 proto::spoken(v1::FailureClass_Name(failure))));
  }
  return absl::StrJoin(parts, ", ");
}

std::string configuration_text(const v1::Recording& recording, const v1::RecordedRow& row) {
  std::vector<std::string> parts;
  for (int i = 0; i < recording.parameters_size() && i < row.values_size(); ++i) {
    if (!row.values(i).empty()) {
      parts.push_back(absl::StrCat(recording.parameters(i), "=", row.values(i)));
    }
  }
  return parts.empty() ? row.name() : absl::StrJoin(parts, ", ");
}

std::string recorded_file_text(const RecordedFile& file, Format format) {
  const Table best = best_table(file, format);
  const std::string unranked = unranked_because(file);
  if (format == Format::kCsv) {
    return csv_text(unranked.empty() ? best : Table{best.columns, {}});
  }
  const v1::Recording& recording = file.recording;
  Report report;
  const auto add_fact = [&report](const char* name, const std::string& value) {
    if (!value.empty()) {
      report.facts.emplace_back(name, value);
    }
  };
  add_fact("recording", absl::StrCat(recording.recording_id()));
  add_fact("file", recording.file_name());
  add_fact("format", proto::spoken(recording.format()));
  add_fact("kernel", recording.name());
  add_fact("device", recording.device_name());
  add_fact("objective", recording.objective());
  add_fact("parameters", absl::StrJoin(recording.parameters(), ", "));
  const std::string failures = failures_text(tuning::rank(file.rows, Statistic::kMedian));
  add_fact("rows", with_commas(static_cast<std::int64_t>(file.rows.size())));
  add_fact("failed", failures.empty() ? "none" : failures);
  report.notes.assign(recording.notes().begin(), recording.notes().end());
  if (unranked.empty() && !best.rows.empty()) {
    report.tables.push_back(best);
  } else {
    report.closing.push_back("no best: " +
                             (unranked.empty() ? std::string("no row has a time") : unranked));
  }
  return report_text(report, format);
}

std::string recordings_text(const v1::ListRecordingsResponse& response, Format format) {
  const bool raw = format == Format::kCsv;
  Table table{{{raw ? "recording_id" : "id", Align::kRight},
               {raw ? "imported_ns" : "imported"},
               {"format"},
               {raw ? "num_rows" : "rows", Align::kRight},
               {raw ? "name" : "kernel"},
               {raw ? "device_name" : "device"},
               {raw ? "file_name" : "file"}},
              {}};
  for (const v1::Recording& recording : response.recordings()) {
    table.rows.push_back(
        {absl::StrCat(recording.recording_id()),
         raw ? absl::StrCat(recording.imported_ns()) : time_text(recording.imported_ns()),
         recording.format(),
         raw ? absl::StrCat(recording.num_rows()) : with_commas(recording.num_rows()),
         recording.name(),
         recording.device_name(),
         recording.file_name()});
  }
  return table_text(table, format);
}

}  // namespace assay::client
