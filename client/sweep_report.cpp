#include "client/compare_parts.h"
#include "client/numbers.h"
#include "client/report.h"
#include "client/settings.h"
#include "client/sweep_races.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <utility>

namespace assay::client {
namespace {

using tuning::RaceEntry;
using tuning::RaceResult;
using tuning::Standing;

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kFewRows = 5;  // of each of many workloads

// Winner, ties, those behind by their ratio, what was dropped, what failed.
std::vector<const RaceEntry*> ranked(const RaceResult& race) {
  std::vector<const RaceEntry*> entries;
  for (const RaceEntry& entry : race.entries) {
    if (entry.standing != Standing::kFailed) {
      entries.push_back(&entry);
    }
  }
  std::ranges::stable_sort(entries, [](const RaceEntry* a, const RaceEntry* b) {
    return a->standing != b->standing ? a->standing < b->standing : a->ratio < b->ratio;
  });
  return entries;
}

// What tells workloads and arms apart, and the tables that grow by a race each.
class SweepTables {
 public:
  SweepTables(const Varying& workloads, const Varying& arms) : workloads_(workloads), arms_(arms) {
    if (workloads_.any()) {
      ranking_.columns.push_back({"workload"});
      failures_.columns.push_back({"workload"});
    }
    for (const Column& column : {Column{"configuration"},
                                 Column{"us", Align::kRight},
                                 Column{"of winner", Align::kRight},
                                 Column{"interval", Align::kRight},
                                 Column{"standing"}}) {
      ranking_.columns.push_back(column);
    }
    for (const Column& column : {Column{"failure"},
                                 Column{"configurations", Align::kRight},
                                 Column{"the first"},
                                 Column{"why"}}) {
      failures_.columns.push_back(column);
    }
  }

  void add(const WorkloadRace& race, std::size_t most_rows) {
    std::string workload = workloads_.text_of(settings_of(race.workload));
    const std::vector<const RaceEntry*> entries = ranked(race.result);
    for (std::size_t i = 0; i < std::min(entries.size(), most_rows); ++i) {
      ranking_.rows.push_back(ranking_row(*entries[i], workload));
      workload.clear();
    }
    if (entries.size() > most_rows) {
      const auto num_left = static_cast<std::int64_t>(entries.size() - most_rows);
      ranking_.rows.push_back(begin_row(""));
      ranking_.rows.back().push_back(absl::StrCat("and ", with_commas(num_left), " more"));
    }
    add_failures(race);
  }

  void write(Report& report) {
    report.tables.push_back(std::move(ranking_));
    if (!failures_.rows.empty()) {
      report.tables.push_back(std::move(failures_));
    }
  }

 private:
  std::vector<std::string> begin_row(const std::string& workload) const {
    return workloads_.any() ? std::vector<std::string>{workload} : std::vector<std::string>();
  }

  std::string arm_text(const RaceEntry& entry) const {
    const std::string text = arms_.text_of(settings_of(entry.arm));
    return text.empty() ? proto::text_of(entry.arm) : text;
  }

  std::vector<std::string> ranking_row(const RaceEntry& entry, const std::string& workload) const {
    const bool has_interval = entry.has_interval && entry.standing != Standing::kWinner;
    std::vector<std::string> row = begin_row(workload);
    row.push_back(arm_text(entry));
    row.push_back(entry.median_ns > 0 ? in_microseconds(entry.median_ns) : "-");
    row.push_back(entry.ratio > 0 ? ratio_text(entry.ratio) : "-");
    row.push_back(has_interval ? interval_text(entry.ratio_low, entry.ratio_high) : "-");
    row.emplace_back(tuning::name_of(entry.standing));
    return row;
  }

  // One row a class, with its first configuration.
  void add_failures(const WorkloadRace& race) {
    std::map<v1::FailureClass, std::pair<std::int64_t, const RaceEntry*>> classes;
    for (const RaceEntry& entry : race.result.entries) {
      if (entry.standing == Standing::kFailed) {
        auto& [num, first] = classes[entry.failure];
        first = num++ == 0 ? &entry : first;
      }
    }
    for (const auto& [failure, found] : classes) {
      std::vector<std::string> row = begin_row(workloads_.text_of(settings_of(race.workload)));
      row.push_back(proto::spoken(v1::FailureClass_Name(failure)));
      row.push_back(with_commas(found.first));
      row.push_back(arm_text(*found.second));
      row.push_back(found.second->message);
      failures_.rows.push_back(std::move(row));
    }
  }

  const Varying& workloads_;
  const Varying& arms_;
  Table ranking_;
  Table failures_;
};

std::string winner_text(const RaceResult& race) {
  if (!race.winner) {
    return absl::StrCat("no winner: none of ",
                        counted(static_cast<std::int64_t>(race.entries.size()), "configuration"),
                        " may rank");
  }
  const RaceEntry& winner = race.entries[*race.winner];
  std::string text = absl::StrCat("winner: ",
                                  proto::text_of(winner.arm),
                                  ", ",
                                  in_microseconds(winner.median_ns),
                                  " us, ",
                                  ratio_text(race.ratio),
                                  " of ",
                                  proto::text_of(race.baseline_arm));
  if (race.has_interval) {
    absl::StrAppend(&text, " ", interval_text(race.ratio_low, race.ratio_high));
  }
  return text;
}

std::string ties_text(const RaceResult& race) {
  const auto num = std::ranges::count(race.entries, Standing::kTied, &RaceEntry::standing);
  if (num == 0) {
    return "";
  }
  return absl::StrCat("ties: ",
                      counted(num, "configuration"),
                      " within the noise of ",
                      percent_text(race.noise),
                      "; of equals the one that was there first stays (a stored winner, the "
                      "defaults, then the order of the strategy)");
}

}  // namespace

Report sweep_report(const v1::Experiment& experiment) {
  Report report;
  add_device_facts(report, experiment);
  add_run_facts(report, experiment);
  const v1::SweepSpec& sweep = experiment.spec().sweep();
  report.facts.emplace_back("strategy", sweep.strategy().empty() ? "exhaustive" : sweep.strategy());
  const std::vector<WorkloadRace> races = races_of(experiment);
  std::vector<Settings> all_workloads;
  std::vector<Settings> all_arms;
  for (const WorkloadRace& each : races) {
    all_workloads.push_back(settings_of(each.workload));
    for (const RaceEntry& entry : each.result.entries) {
      all_arms.push_back(settings_of(entry.arm));
    }
  }
  const Varying workloads(all_workloads);
  const Varying arms(all_arms);
  for (const auto& [name, text] : {std::pair("workload", workloads.constant_text()),
                                   std::pair("variant", arms.constant_text())}) {
    if (!text.empty()) {
      report.facts.emplace_back(name, text);
    }
  }
  SweepTables tables(workloads, arms);
  for (const WorkloadRace& each : races) {
    tables.add(each, races.size() > 1 ? kFewRows : kMostRows);
    const std::string name = workloads.text_of(settings_of(each.workload));
    const std::string prefix = name.empty() ? "" : absl::StrCat(name, ": ");
    report.closing.push_back(prefix + winner_text(each.result));
    if (const std::string ties = ties_text(each.result); !ties.empty()) {
      report.closing.push_back(prefix + ties);
    }
  }
  tables.write(report);
  add_closing(report, experiment);
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
