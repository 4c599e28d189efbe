#include "client/counters_report.h"

#include "client/compare_parts.h"
#include "client/metrics.h"
#include "client/numbers.h"
#include "client/variation.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace assay::client {
namespace {

// Every metric that a kernel has, those with a title first.
std::vector<std::string> metric_names(const v1::Experiment& experiment) {
  std::vector<std::string> names;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const Role role : kRoles) {
      for (const v1::KernelCounters& kernel : measurement_of(configuration, role).counters()) {
        for (const v1::Metric& metric : kernel.metrics()) {
          if (std::ranges::find(names, metric.name()) == names.end()) {
            names.push_back(metric.name());
          }
        }
      }
    }
  }
  std::ranges::stable_sort(names, {}, metric_rank);
  return names;
}

// In the timed run where the kernel is alone in its stage, else in the pass that counted.
std::string dram_rate_text(const v1::Configuration& configuration,
                           Role role,
                           const v1::KernelCounters& kernel) {
  const std::optional<double> bytes = dram_bytes(kernel);
  const v1::Measurement& measurement = measurement_of(configuration, role);
  const auto num_in_stage = std::ranges::count(
      measurement.counters(), kernel.stage(), [](const auto& other) { return other.stage(); });
  double duration_ns = metric_of(kernel, kKernelTime).value_or(0);
  if (num_in_stage == 1) {
    if (const std::int64_t median_ns = stage_median_ns(configuration, role, kernel.stage());
        median_ns > 0) {
      duration_ns = static_cast<double>(median_ns);
    }
  }
  return bytes && duration_ns > 0 ? quantity_text(*bytes / duration_ns * 1e9, "bytes/s") : "-";
}

std::string why_none(const v1::Experiment& experiment) {
  return asks_for_counters(experiment)
             ? "counters: none are stored"
             : "counters: none were asked for; `--counters dram,l2,tensor,occupancy` of measure or "
               "compare reads them";
}

Table counters_csv(const v1::Experiment& experiment) {
  Table table{{{"experiment_id"},
               {"configuration"},
               {"workload"},
               {"role"},
               {"arm"},
               {"stage"},
               {"kernel"},
               {"name"},
               {"value"}},
              {}};
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const Role role : kRoles) {
      const v1::Measurement& measurement = measurement_of(configuration, role);
      for (const v1::KernelCounters& kernel : measurement.counters()) {
        for (const v1::Metric& metric : kernel.metrics()) {
          table.rows.push_back({absl::StrCat(experiment.experiment_id()),
                                absl::StrCat(configuration.configuration()),
                                proto::text_of(configuration.workload()),
                                role_name(role),
                                proto::text_of(measurement.arm()),
                                kernel.stage(),
                                kernel.kernel(),
                                metric.name(),
                                raw_number_text(metric.value())});
        }
      }
    }
  }
  return table;
}

}  // namespace

bool asks_for_counters(const v1::Experiment& experiment) {
  return !experiment.spec().counters().empty() ||
         std::ranges::any_of(experiment.configurations(), [](const auto& configuration) {
           return std::ranges::any_of(kRoles, [&](Role role) {
             const v1::Measurement& measurement = measurement_of(configuration, role);
             return !measurement.counters().empty() || !measurement.counters_missing().empty();
           });
         });
}

void add_counters(Report& report, const v1::Experiment& experiment) {
  const Variation variation(experiment);
  const std::vector<std::string> names = metric_names(experiment);
  Table table = variation.table({{"stage"}, {"kernel"}});
  const bool has_bytes = std::ranges::find(names, kDramRead) != names.end() &&
                         std::ranges::find(names, kDramWritten) != names.end();
  if (has_bytes) {
    table.columns.push_back({"DRAM rate", Align::kRight});
  }
  for (const std::string& name : names) {
    table.columns.push_back({metric_title(name), Align::kRight});
  }
  std::set<std::string> reasons;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const Role role : kRoles) {
      const v1::Measurement& measurement = measurement_of(configuration, role);
      if (!measurement.counters_missing().empty()) {
        reasons.insert(measurement.counters_missing());
      }
      // A rejected row shows nothing that speaks of its speed.
      if (!shows_times(configuration)) {
        continue;
      }
      for (const v1::KernelCounters& kernel : measurement.counters()) {
        std::vector<std::string>& row =
            table.rows.emplace_back(variation.cells(configuration, role));
        row.insert(row.end(), {kernel.stage(), kernel.kernel()});
        if (has_bytes) {
          row.push_back(dram_rate_text(configuration, role, kernel));
        }
        for (const std::string& name : names) {
          const std::optional<double> value = metric_of(kernel, name);
          row.push_back(value ? metric_text(name, *value) : "-");
        }
      }
    }
  }
  for (const std::string& reason : reasons) {
    report.closing.push_back(absl::StrCat("counters: ", reason));
  }
  if (!table.rows.empty()) {
    report.tables.push_back(std::move(table));
  } else if (reasons.empty()) {
    report.closing.push_back(why_none(experiment));
  }
}

std::string counters_text(const v1::Experiment& experiment, Format format) {
  if (format == Format::kCsv) {
    return csv_text(counters_csv(experiment));
  }
  Report report = timed_head(experiment);
  add_counters(report, experiment);
  return report_text(report, format);
}

}  // namespace assay::client
