#include "client/compare_parts.h"
#include "client/numbers.h"
#include "client/report.h"
#include "client/sweep_races.h"
#include "client/sweep_tables.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::client {
namespace {

using tuning::RaceEntry;
using tuning::RaceResult;
using tuning::Standing;

constexpr std::size_t kMostRows = 20;
// Of several workloads a few of each, of many none but the winners.
constexpr std::size_t kFewRows = 5;
constexpr std::size_t kMostRankings = 8;

std::int64_t num_standing(const RaceResult& race, Standing standing) {
  return std::ranges::count(race.entries, standing, &RaceEntry::standing);
}

void add_sweep_facts(Report& report,
                     const v1::Experiment& experiment,
                     const std::vector<WorkloadRace>& races,
                     const SweepNames& names) {
  const v1::SweepSpec& sweep = experiment.spec().sweep();
  std::string strategy = sweep.strategy().empty() ? "exhaustive" : sweep.strategy();
  if (sweep.max_configurations() > 0) {
    absl::StrAppend(&strategy,
                    ", at most ",
                    counted(sweep.max_configurations(), "configuration"),
                    " of a workload");
  }
  if (sweep.budget_ns() > 0) {
    absl::StrAppend(
        &strategy, ", at most ", duration_text(sweep.budget_ns()), " of running time a workload");
  }
  const std::string baseline = races.empty() ? "" : proto::text_of(races[0].result.baseline_arm);
  for (const auto& [name, text] : {std::pair("strategy", strategy),
                                   std::pair("baseline", baseline),
                                   std::pair("variant", names.arms.constant_text()),
                                   std::pair("workload", names.workloads.constant_text())}) {
    if (!text.empty()) {
      report.facts.emplace_back(name, text);
    }
  }
}

bool is_baseline(const RaceResult& race) {
  return race.winner &&
         proto::text_of(race.entries[*race.winner].arm) == proto::text_of(race.baseline_arm);
}

std::string winner_text(const WorkloadRace& each) {
  const RaceResult& race = each.result;
  const auto num_tried = static_cast<std::int64_t>(race.entries.size());
  if (!race.winner) {
    return absl::StrCat(each.may_go_on ? "no winner so far" : "no winner",
                        ": none of ",
                        counted(num_tried, "configuration"),
                        " may rank");
  }
  const RaceEntry& winner = race.entries[*race.winner];
  std::string text = absl::StrCat(each.may_go_on ? "winner so far: " : "winner: ",
                                  proto::text_of(winner.arm),
                                  ", ",
                                  in_microseconds(winner.median_ns),
                                  " us, ");
  if (is_baseline(race)) {
    return absl::StrCat(text, "the baseline itself");
  }
  absl::StrAppend(&text, ratio_cell(race.ratio, race.has_interval), " of the baseline's time");
  if (race.has_interval) {
    absl::StrAppend(&text, " ", interval_text(race.ratio_low, race.ratio_high));
  }
  return text;
}

// Empty without ties.
std::string ties_text(const std::vector<WorkloadRace>& races) {
  std::int64_t num = 0;
  double noise = 0;
  for (const WorkloadRace& each : races) {
    if (const std::int64_t num_here = num_standing(each.result, Standing::kTied); num_here > 0) {
      num += num_here;
      noise = std::max(noise, each.result.noise);
    }
  }
  if (num == 0) {
    return "";
  }
  return absl::StrCat("ties: ",
                      counted(num, "configuration"),
                      " not to be told from the winner within the noise of ",
                      races.size() > 1 ? "at most " : "",
                      percent_text(noise),
                      "; what was there first stays: a stored winner, the defaults, then the "
                      "strategy's order");
}

// Of winners that are best of what was tried and no more; empty: each is faster than the baseline,
// or it.
std::string caution_text(const std::vector<WorkloadRace>& races) {
  std::int64_t num = 0;
  std::int64_t num_winners = 0;
  for (const WorkloadRace& each : races) {
    const RaceResult& race = each.result;
    num_winners += race.winner ? 1 : 0;
    num += race.winner && !is_baseline(race) && race.has_interval && race.ratio_high >= 1 ? 1 : 0;
  }
  if (num == 0) {
    return "";
  }
  const std::string who = num_winners == 1
                              ? "the winner is"
                              : absl::StrCat(with_commas(num),
                                             " of ",
                                             with_commas(num_winners),
                                             num == 1 ? " winners is" : " winners are");
  return absl::StrCat("caution: ",
                      who,
                      " not shown to be faster than the baseline: ",
                      num == 1 ? "its interval is" : "their intervals are",
                      " not below 1; more --rounds or a larger --budget may tell");
}

// "1 winner, 2 tied, 3 dropped".
std::string standings_text(const std::vector<WorkloadRace>& races) {
  std::vector<std::string> parts;
  for (const Standing standing : {Standing::kWinner,
                                  Standing::kTied,
                                  Standing::kBehind,
                                  Standing::kDropped,
                                  Standing::kUnclear,
                                  Standing::kFailed}) {
    std::int64_t num = 0;
    for (const WorkloadRace& each : races) {
      num += num_standing(each.result, standing);
    }
    if (num > 0) {
      const std::string name(tuning::name_of(standing));
      parts.push_back(standing == Standing::kWinner ? counted(num, name)
                                                    : absl::StrCat(with_commas(num), " ", name));
    }
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

Report sweep_report(const v1::Experiment& experiment) {
  Report report;
  add_device_facts(report, experiment);
  add_run_facts(report, experiment);
  const std::vector<WorkloadRace> races = races_of(experiment);
  const SweepNames names = names_of(experiment.spec(), races);
  add_sweep_facts(report, experiment, races, names);
  const bool is_one = races.size() == 1;
  std::array<Table, 3> tables;
  if (!is_one) {
    tables[0] = winners_table(races, names);
  }
  if (races.size() <= kMostRankings) {
    tables[1] = ranking_table(races, names, is_one ? kMostRows : kFewRows, report);
  }
  tables[2] = failures_table(races, names);
  for (Table& table : tables) {
    if (!table.rows.empty()) {
      report.tables.push_back(std::move(table));
    }
  }
  if (is_one) {
    report.closing.push_back(winner_text(races[0]));
  }
  // What one that is done left untried is told by the daemon.
  const std::string untried = experiment.state() == v1::DONE ? experiment.message() : "";
  for (const std::string& line : {ties_text(races), caution_text(races), untried}) {
    if (!line.empty()) {
      report.closing.push_back(line);
    }
  }
  if (races.size() > kMostRankings) {
    report.closing.push_back(absl::StrCat(
        "every configuration: `assay show ", experiment.experiment_id(), " --format csv`"));
  }
  add_closing(report, experiment, standings_text(races));
  const v1::TaskState state = experiment.state();
  if (state == v1::CANCELLED || state == v1::INTERRUPTED || state == v1::FAILED) {
    report.closing.push_back(absl::StrCat(
        "it goes on where it stands: `assay sweep --resume ", experiment.experiment_id(), "`"));
  }
  return report;
}

Table sweep_csv(const v1::Experiment& experiment) {
  Table table{{{"experiment_id"},
               {"configuration"},
               {"operator_name"},
               {"device"},
               {"workload"},
               {"arm"},
               {"standing"},
               {"failure"},
               {"median_ns"},
               {"ratio"},
               {"ratio_low"},
               {"ratio_high"},
               {"message"}},
              {}};
  for (const WorkloadRace& each : races_of(experiment)) {
    for (const RaceEntry& entry : each.result.entries) {
      const bool has_failure = entry.standing == Standing::kFailed;
      table.rows.push_back({absl::StrCat(experiment.experiment_id()),
                            absl::StrCat(entry.configuration),
                            experiment.spec().operator_name(),
                            experiment.spec().device(),
                            proto::text_of(each.workload),
                            proto::text_of(entry.arm),
                            std::string(name_of(entry.standing)),
                            has_failure ? v1::FailureClass_Name(entry.failure) : "",
                            entry.median_ns > 0 ? absl::StrCat(entry.median_ns) : "",
                            entry.ratio > 0 ? raw_number_text(entry.ratio) : "",
                            entry.has_interval ? raw_number_text(entry.ratio_low) : "",
                            entry.has_interval ? raw_number_text(entry.ratio_high) : "",
                            entry.message});
    }
  }
  return table;
}

}  // namespace assay::client
