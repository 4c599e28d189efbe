#include "client/replay_text.h"

#include "client/json_entries.h"
#include "client/numbers.h"
#include "client/recorded_values.h"
#include "client/recording_text.h"
#include "client/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace assay::client {
namespace {

constexpr std::size_t kMaxShownTies = 20;

std::string microseconds(double value_ns) {
  return in_microseconds(std::llround(value_ns));
}

Table ties_table(const RecordedFile& file, const Replay& replay) {
  Table table{{{tuning::statistic_name(replay.statistic) + " us", Align::kRight},
               {"low", Align::kRight},
               {"high", Align::kRight},
               {"row", Align::kRight},
               {"configuration"}},
              {}};
  const std::size_t num_shown = std::min(kMaxShownTies, replay.ranking.ties.size());
  for (std::size_t i = 0; i < num_shown; ++i) {
    const tuning::RankedRow& tie = replay.ranking.ties[i];
    const v1::RecordedRow& row = file.rows[tie.row];
    table.rows.push_back({microseconds(tie.value_ns),
                          microseconds(tie.low_ns),
                          microseconds(tie.high_ns),
                          with_commas(row.row()),
                          configuration_text(file.recording, row)});
  }
  return table;
}

std::string mean_text(const std::optional<double>& mean, Format format) {
  if (!mean.has_value()) {
    return format == Format::kCsv ? "" : "-";
  }
  return format == Format::kCsv ? raw_number_text(*mean) : absl::StrFormat("%.4f", *mean);
}

Table means_table(const Replay& replay, Format format) {
  Table table{{{format == Format::kCsv ? "num_tries" : "tries", Align::kRight}}, {}};
  for (const StrategyMeans& strategy : replay.strategies) {
    table.columns.push_back({strategy.strategy, Align::kRight});
  }
  for (std::size_t i = 0; i < replay.tries.size(); ++i) {
    const auto num = static_cast<std::int64_t>(replay.tries[i]);
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(format == Format::kCsv ? absl::StrCat(num) : with_commas(num));
    for (const StrategyMeans& strategy : replay.strategies) {
      row.push_back(mean_text(strategy.means[i], format));
    }
  }
  return table;
}

std::string people_text(const RecordedFile& file, const Replay& replay, Format format) {
  const tuning::Ranking& ranking = replay.ranking;
  Report report;
  report.facts.emplace_back("file", file.recording.file_name());
  if (!file.recording.device_name().empty()) {
    report.facts.emplace_back("device", file.recording.device_name());
  }
  report.facts.emplace_back("rows", with_commas(static_cast<std::int64_t>(file.rows.size())));
  const std::string failures = failures_text(ranking);
  report.facts.emplace_back("failed", failures.empty() ? "none" : failures);
  report.facts.emplace_back("objective", tuning::statistic_name(replay.statistic));
  report.facts.emplace_back("winner",
                            configuration_text(file.recording, file.rows[ranking.ties[0].row]));
  report.facts.emplace_back(
      "ties", with_commas(static_cast<std::int64_t>(ranking.ties.size()) - 1) + " with the winner");
  report.facts.emplace_back("seeds",
                            absl::StrCat(with_commas(replay.num_repeats), " from ", replay.seed));
  report.tables.push_back(ties_table(file, replay));
  report.tables.push_back(means_table(replay, format));
  report.notes.assign(file.recording.notes().begin(), file.recording.notes().end());
  if (ranking.ties.size() > kMaxShownTies) {
    report.closing.push_back(
        absl::StrCat("and ",
                     counted(static_cast<std::int64_t>(ranking.ties.size() - kMaxShownTies), "row"),
                     " more within the noise of the winner"));
  }
  report.closing.emplace_back(
      "after so many tries: the best found over the best there is, mean over the seeds");
  return report_text(report, format);
}

OrderedJson json_of_replay(const RecordedFile& file, const Replay& replay) {
  OrderedJson ties = OrderedJson::array();
  for (const tuning::RankedRow& tie : replay.ranking.ties) {
    const v1::RecordedRow& row = file.rows[tie.row];
    OrderedJson values = OrderedJson::object();
    for (int i = 0; i < row.values_size(); ++i) {
      values[file.recording.parameters(i)] = row.values(i);
    }
    ties.push_back({{"row", row.row()},
                    {"values", std::move(values)},
                    {"value_ns", tie.value_ns},
                    {"low_ns", tie.low_ns},
                    {"high_ns", tie.high_ns}});
  }
  OrderedJson failures = OrderedJson::object();
  for (const auto& [failure, num] : replay.ranking.failures) {
    failures[v1::FailureClass_Name(failure)] = num;
  }
  OrderedJson strategies = OrderedJson::object();
  for (const StrategyMeans& strategy : replay.strategies) {
    OrderedJson& means = strategies[strategy.strategy] = OrderedJson::array();
    for (const std::optional<double>& mean : strategy.means) {
      means.push_back(mean.has_value() ? OrderedJson(*mean) : OrderedJson());
    }
  }
  OrderedJson notes = OrderedJson::array();
  for (const std::string& note : file.recording.notes()) {
    notes.push_back(note);
  }
  return {{"file_name", file.recording.file_name()},
          {"objective", tuning::statistic_name(replay.statistic)},
          {"num_rows", file.rows.size()},
          {"num_ranked", replay.ranking.num_ranked},
          {"failures", std::move(failures)},
          {"ties", std::move(ties)},
          {"seed", replay.seed},
          {"num_repeats", replay.num_repeats},
          {"tries", replay.tries},
          {"mean_best_over_optimum", std::move(strategies)},
          {"notes", std::move(notes)}};
}

}  // namespace

std::string replay_text(const RecordedFile& file, const Replay& replay, Format format) {
  switch (format) {
    case Format::kJson:
      return dump_line(json_of_replay(file, replay)) + "\n";
    case Format::kCsv:
      return csv_text(means_table(replay, format));
    default:
      return people_text(file, replay, format);
  }
}

}  // namespace assay::client
