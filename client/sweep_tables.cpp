#include "client/sweep_tables.h"

#include "client/numbers.h"
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

using Cells = std::vector<std::string>;

// Winner, ties, those behind by their ratio, what was dropped, what has no interval.
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

Table begin_table(const SweepNames& names, const std::vector<Column>& columns) {
  Table table;
  if (names.workloads.any()) {
    table.columns.push_back({"workload"});
  }
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

// The workload stands in the first row of its own only.
Cells begin_row(const WorkloadRace& race, const SweepNames& names, bool is_first) {
  if (!names.workloads.any()) {
    return {};
  }
  return {is_first ? names.workloads.text_of(settings_of(race.workload)) : std::string()};
}

void add_row(Table& table, Cells row, const Cells& cells) {
  row.insert(row.end(), cells.begin(), cells.end());
  table.rows.push_back(std::move(row));
}

std::string arm_text(const RaceEntry& entry, const SweepNames& names) {
  const std::string text = names.arms.text_of(settings_of(entry.arm));
  return text.empty() ? proto::text_of(entry.arm) : text;
}

std::string time_cell(const RaceEntry& entry) {
  return entry.median_ns > 0 ? in_microseconds(entry.median_ns) : "-";
}

Cells ranking_cells(const RaceEntry& entry, const SweepNames& names, Report& report) {
  const bool is_winner = entry.standing == Standing::kWinner;
  return {
      arm_text(entry, names),
      time_cell(entry),
      is_winner ? "1" : ratio_cell(entry.ratio, entry.has_interval),
      entry.has_interval && !is_winner ? interval_text(entry.ratio_low, entry.ratio_high) : "-",
      absl::StrCat(std::string(tuning::name_of(entry.standing)), note_mark(report, entry.message))};
}

Cells winner_cells(const WorkloadRace& race, const SweepNames& names) {
  const RaceResult& result = race.result;
  const auto num_tied = std::ranges::count(result.entries, Standing::kTied, &RaceEntry::standing);
  const auto num_tried = static_cast<std::int64_t>(result.entries.size());
  const std::string so_far = race.may_go_on ? " so far" : "";
  Cells cells = {"none may rank" + so_far, "-", "-", "-", "-"};
  if (result.winner) {
    const RaceEntry& winner = result.entries[*result.winner];
    const bool stayed = proto::text_of(winner.arm) == proto::text_of(result.baseline_arm);
    cells = {
        arm_text(winner, names) + so_far,
        time_cell(winner),
        stayed ? "itself" : ratio_cell(result.ratio, result.has_interval),
        stayed || !result.has_interval ? "-" : interval_text(result.ratio_low, result.ratio_high),
        percent_text(result.noise)};
  }
  for (const std::int64_t num : {num_tied, std::int64_t{result.num_failed}, num_tried}) {
    cells.push_back(with_commas(num));
  }
  return cells;
}

// An arm for each value that a launch parameter may take.
void add_walked(const v1::ExperimentSpec& spec, std::vector<Settings>& arms) {
  if (arms.empty()) {
    return;
  }
  const Settings first = arms.front();
  for (const v1::Axis& axis : spec.axes()) {
    const auto place = std::ranges::find(first, axis.name(), &v1::Setting::name);
    for (const std::string& value : axis.values()) {
      if (place != first.end()) {
        arms.push_back(first);
        arms.back()[static_cast<std::size_t>(place - first.begin())].set_value(value);
      }
    }
  }
}

}  // namespace

SweepNames names_of(const v1::ExperimentSpec& spec, const std::vector<WorkloadRace>& races) {
  std::vector<Settings> workloads;
  std::vector<Settings> arms;
  for (const WorkloadRace& race : races) {
    workloads.push_back(settings_of(race.workload));
    for (const RaceEntry& entry : race.result.entries) {
      arms.push_back(settings_of(entry.arm));
    }
  }
  add_walked(spec, arms);
  return {.workloads = Varying(workloads), .arms = Varying(arms)};
}

std::string ratio_cell(double ratio, bool has_interval) {
  if (ratio <= 0) {
    return "-";
  }
  return has_interval ? ratio_text(ratio) : estimate_text(ratio);
}

Table winners_table(const std::vector<WorkloadRace>& races, const SweepNames& names) {
  Table table = begin_table(names,
                            {{"winner"},
                             {"us", Align::kRight},
                             {"of baseline", Align::kRight},
                             {"interval", Align::kRight},
                             {"noise", Align::kRight},
                             {"tied", Align::kRight},
                             {"failed", Align::kRight},
                             {"tried", Align::kRight}});
  for (const WorkloadRace& race : races) {
    add_row(table, begin_row(race, names, true), winner_cells(race, names));
  }
  return table;
}

Table ranking_table(const std::vector<WorkloadRace>& races,
                    const SweepNames& names,
                    std::size_t most_rows,
                    Report& report) {
  Table table = begin_table(names,
                            {{"configuration"},
                             {"us", Align::kRight},
                             {"of winner", Align::kRight},
                             {"interval", Align::kRight},
                             {"standing"}});
  for (const WorkloadRace& race : races) {
    const std::vector<const RaceEntry*> entries = ranked(race.result);
    const std::size_t num_shown = std::min(entries.size(), most_rows);
    for (std::size_t i = 0; i < num_shown; ++i) {
      add_row(table, begin_row(race, names, i == 0), ranking_cells(*entries[i], names, report));
    }
    if (num_shown < entries.size()) {
      const auto num_left = static_cast<std::int64_t>(entries.size() - num_shown);
      add_row(table,
              begin_row(race, names, false),
              {absl::StrCat("and ", with_commas(num_left), " more")});
    }
  }
  return table;
}

Table failures_table(const std::vector<WorkloadRace>& races, const SweepNames& names) {
  Table table =
      begin_table(names, {{"failure"}, {"configurations", Align::kRight}, {"the first"}, {"why"}});
  for (const WorkloadRace& race : races) {
    std::map<v1::FailureClass, std::pair<std::int64_t, const RaceEntry*>> classes;
    for (const RaceEntry& entry : race.result.entries) {
      if (entry.standing == Standing::kFailed) {
        auto& [num, first] = classes[entry.failure];
        first = num++ == 0 ? &entry : first;
      }
    }
    for (const auto& [failure, found] : classes) {
      add_row(table,
              begin_row(race, names, failure == classes.begin()->first),
              {proto::spoken(v1::FailureClass_Name(failure)),
               with_commas(found.first),
               arm_text(*found.second, names),
               found.second->message});
    }
  }
  return table;
}

}  // namespace assay::client
