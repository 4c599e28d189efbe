#include "client/tuning_text.h"

#include "client/listed_text.h"
#include "client/numbers.h"
#include "client/report.h"
#include "client/settings.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <map>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

using Entries = std::vector<const v1::Tuning*>;

bool stayed(const v1::Tuning& tuning) {
  return proto::text_of(tuning.arm()) == proto::text_of(tuning.baseline_arm());
}

// What all entries of one operator and device share stands above their table.
Report entries_report(const Entries& entries) {
  std::vector<Settings> all_workloads;
  std::vector<Settings> all_arms;
  for (const v1::Tuning* tuning : entries) {
    all_workloads.push_back(workload_settings(tuning->workload()));
    all_arms.push_back(settings_of(tuning->arm()));
  }
  const Varying workloads(all_workloads);
  const Varying arms(all_arms);
  Report report;
  report.facts = {{"operator", entries[0]->operator_name()},
                  {"device", entries[0]->device_model()}};
  for (const auto& [name, text] : {std::pair("workload", workloads.constant_text()),
                                   std::pair("winner", arms.constant_text())}) {
    if (!text.empty()) {
      report.facts.emplace_back(name, text);
    }
  }
  Table table{{{"workload"},
               {"winner"},
               {"us", Align::kRight},
               {"of baseline", Align::kRight},
               {"noise", Align::kRight},
               {"tied", Align::kRight},
               {"tried", Align::kRight},
               {"experiment", Align::kRight},
               {"measured (UTC)"},
               {"fresh"}},
              {}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const v1::Tuning& tuning = *entries[i];
    const std::string workload = workloads.text_of(all_workloads[i]);
    const std::string arm = arms.text_of(all_arms[i]);
    const bool is_stale = !tuning.stale().empty();
    table.rows.push_back(
        {workload.empty() ? "as above" : workload,
         arm.empty() ? "as above" : arm,
         in_microseconds(tuning.median_ns()),
         stayed(tuning) ? "itself" : ratio_text(tuning.ratio()),
         percent_text(tuning.noise()),
         with_commas(tuning.ties_size()),
         absl::StrCat(
             with_commas(tuning.num_configurations()), " of ", with_commas(tuning.num_valid())),
         absl::StrCat(tuning.experiment_id()),
         time_text(tuning.measured_ns()),
         absl::StrCat(is_stale ? "stale" : "yes", note_mark(report, tuning.stale()))});
  }
  report.tables.push_back(std::move(table));
  return report;
}

std::string raw_text(const v1::ListTuningsResponse& all) {
  Table table{{{"operator_name"},
               {"workload"},
               {"device_model"},
               {"compute_capability"},
               {"arm"},
               {"median_ns"},
               {"baseline_arm"},
               {"ratio"},
               {"ratio_low"},
               {"ratio_high"},
               {"noise"},
               {"num_ties"},
               {"num_configurations"},
               {"num_valid"},
               {"num_failed"},
               {"strategy"},
               {"experiment_id"},
               {"measured_ns"},
               {"stale"}},
              {}};
  for (const v1::Tuning& tuning : all.tunings()) {
    table.rows.push_back({tuning.operator_name(),
                          tuning.workload(),
                          tuning.device_model(),
                          tuning.compute_capability(),
                          proto::text_of(tuning.arm()),
                          absl::StrCat(tuning.median_ns()),
                          proto::text_of(tuning.baseline_arm()),
                          raw_number_text(tuning.ratio()),
                          raw_number_text(tuning.ratio_low()),
                          raw_number_text(tuning.ratio_high()),
                          raw_number_text(tuning.noise()),
                          absl::StrCat(tuning.ties_size()),
                          absl::StrCat(tuning.num_configurations()),
                          absl::StrCat(tuning.num_valid()),
                          absl::StrCat(tuning.num_failed()),
                          tuning.strategy(),
                          absl::StrCat(tuning.experiment_id()),
                          absl::StrCat(tuning.measured_ns()),
                          tuning.stale()});
  }
  return csv_text(table);
}

}  // namespace

std::string tuning_text(const v1::LookupTuningResponse& answer) {
  if (!answer.has_tuning()) {
    return absl::StrCat(answer.missing(), "\n");
  }
  const v1::Tuning& tuning = answer.tuning();
  std::string text = absl::StrCat(proto::text_of(tuning.arm()), "\n");
  const auto add = [&](const std::string& name, const std::string& value) {
    absl::StrAppend(&text, "  ", name, std::string(8 - name.size(), ' '), one_line(value), "\n");
  };
  add("match", answer.match());
  const std::string against =
      stayed(tuning) ? "the baseline itself"
                     : absl::StrCat(ratio_text(tuning.ratio()),
                                    " of ",
                                    proto::text_of(tuning.baseline_arm()),
                                    " ",
                                    interval_text(tuning.ratio_low(), tuning.ratio_high()));
  add("time", absl::StrCat(in_microseconds(tuning.median_ns()), " us, ", against));
  add("noise",
      absl::StrCat(
          percent_text(tuning.noise()), ", ", counted(tuning.ties_size(), "other"), " within it"));
  add("from",
      absl::StrCat("experiment ",
                   tuning.experiment_id(),
                   ", ",
                   time_text(tuning.measured_ns()),
                   " UTC, ",
                   with_commas(tuning.num_configurations()),
                   " of ",
                   counted(tuning.num_valid(), "configuration"),
                   " tried, ",
                   tuning.strategy()));
  if (!tuning.stale().empty()) {
    add("stale", tuning.stale());
  }
  return text;
}

std::string tunings_text(const v1::ListTuningsResponse& all, Format format) {
  if (format == Format::kCsv) {
    return raw_text(all);
  }
  if (all.tunings().empty()) {
    return "nothing is tuned yet: `assay sweep OPERATOR` fills the table\n";
  }
  std::map<std::pair<std::string, std::string>, Entries> groups;
  for (const v1::Tuning& tuning : all.tunings()) {
    groups[{tuning.operator_name(), tuning.device_model()}].push_back(&tuning);
  }
  std::string text;
  for (const auto& [key, entries] : groups) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", report_text(entries_report(entries), format));
  }
  return text;
}

}  // namespace assay::client
