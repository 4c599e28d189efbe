// What a device does at most, as a BENCH measured it.
#include "client/numbers.h"
#include "client/report.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

namespace assay::client {

Report ceiling_report(const v1::Experiment& experiment) {
  Report report;
  add_device_facts(report, experiment);
  add_context_facts(report, experiment);
  Table table{{{"ceiling"}, {"value", Align::kRight}, {"what it is"}}, {}};
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const v1::Ceiling& ceiling : configuration.ceilings()) {
      table.rows.push_back(
          {ceiling.name(), quantity_text(ceiling.value(), ceiling.unit()), ceiling.help()});
    }
    if (configuration.outcome() != v1::FINISHED) {
      report.closing.push_back(absl::StrCat(
          proto::spoken(v1::Outcome_Name(configuration.outcome())), ": ", configuration.message()));
    } else if (!configuration.ceilings().empty()) {
      report.closing.push_back(absl::StrCat(counted(configuration.ceilings_size(), "ceiling"),
                                            " measured ",
                                            time_text(configuration.ceilings(0).measured_ns())));
    }
  }
  report.tables.push_back(std::move(table));
  if (const std::string unfinished = unfinished_text(experiment); !unfinished.empty()) {
    report.closing.push_back(unfinished);
  }
  return report;
}

Table ceiling_csv(const v1::Experiment& experiment) {
  Table table{{{"experiment_id"},
               {"device"},
               {"device_uuid"},
               {"name"},
               {"value"},
               {"unit"},
               {"help"},
               {"measured_ns"},
               {"driver_version"},
               {"toolkit_version"},
               {"code_version"}},
              {}};
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const v1::Ceiling& ceiling : configuration.ceilings()) {
      table.rows.push_back({absl::StrCat(experiment.experiment_id()),
                            experiment.spec().device(),
                            ceiling.device_uuid(),
                            ceiling.name(),
                            raw_number_text(ceiling.value()),
                            ceiling.unit(),
                            ceiling.help(),
                            absl::StrCat(ceiling.measured_ns()),
                            ceiling.driver_version(),
                            ceiling.toolkit_version(),
                            ceiling.code_version()});
    }
  }
  return table;
}

}  // namespace assay::client
