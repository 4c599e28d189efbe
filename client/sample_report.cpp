#include "client/numbers.h"
#include "client/report.h"
#include "client/samples.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

std::string or_dash(std::uint32_t value) {
  return value == 0 ? "-" : with_commas(value);
}

void add_block_rows(Table& table,
                    const std::string& configuration,
                    const char* arm,
                    const v1::Measurement& measurement) {
  const v1::StageSamples* total = find_stage(measurement, "total");
  for (const BlockSamples& place : blocks_of(measurement)) {
    const v1::Block& block = *place.block;
    const std::vector<std::int64_t> samples = samples_of(total, place);
    std::string throttle = block.throttle_reasons();
    if (block.disqualified()) {
      absl::StrAppend(
          &throttle, throttle.empty() ? "" : "; ", "disqualified: ", block.disqualified_because());
    }
    table.rows.push_back({configuration,
                          arm,
                          absl::StrCat(block.round() + 1),
                          absl::StrCat(block.leg() + 1),
                          with_commas(block.num_calls()),
                          samples.empty() ? "-" : in_microseconds(std::ranges::min(samples)),
                          samples.empty() ? "-" : in_microseconds(median_of(samples)),
                          samples.empty() ? "-" : in_microseconds(std::ranges::max(samples)),
                          or_dash(block.sm_clock_mhz()),
                          or_dash(block.memory_clock_mhz()),
                          or_dash(block.temperature_celsius()),
                          or_dash(block.power_milliwatts() / 1000),
                          throttle});
  }
}

void add_sample_rows(Table& table,
                     const v1::Configuration& configuration,
                     const char* arm,
                     const v1::Measurement& measurement) {
  for (const v1::StageSamples& stage : measurement.stages()) {
    for (const BlockSamples& place : blocks_of(measurement)) {
      const v1::Block& block = *place.block;
      const std::vector<std::int64_t> samples = samples_of(&stage, place);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        table.rows.push_back({absl::StrCat(configuration.configuration()),
                              proto::text_of(configuration.workload()),
                              arm,
                              proto::text_of(measurement.arm()),
                              stage.stage(),
                              absl::StrCat(block.round()),
                              absl::StrCat(block.leg()),
                              absl::StrCat(i),
                              absl::StrCat(samples[i]),
                              absl::StrCat(block.sm_clock_mhz()),
                              block.disqualified() ? "true" : "false"});
      }
    }
  }
}

}  // namespace

Report block_report(const v1::Experiment& experiment) {
  Report report;
  Table table;
  for (const char* name : {"configuration",
                           "arm",
                           "round",
                           "leg",
                           "calls",
                           "least us",
                           "median us",
                           "most us",
                           "SM MHz",
                           "memory MHz",
                           "celsius",
                           "watts"}) {
    table.columns.push_back({name, Align::kRight});
  }
  table.columns[1].align = Align::kLeft;
  table.columns.push_back({"throttle", Align::kLeft});
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const std::string number = absl::StrCat(configuration.configuration());
    add_block_rows(table, number, "A", configuration.baseline());
    add_block_rows(table, number, "B", configuration.candidate());
  }
  report.tables.push_back(std::move(table));
  return report;
}

Table sample_csv(const v1::Experiment& experiment) {
  Table table;
  for (const char* name : {"configuration",
                           "workload",
                           "role",
                           "arm",
                           "stage",
                           "round",
                           "leg",
                           "call",
                           "sample_ns",
                           "sm_clock_mhz",
                           "disqualified"}) {
    table.columns.push_back({name, Align::kLeft});
  }
  for (const v1::Configuration& configuration : experiment.configurations()) {
    add_sample_rows(table, configuration, "baseline", configuration.baseline());
    add_sample_rows(table, configuration, "candidate", configuration.candidate());
  }
  return table;
}

}  // namespace assay::client
