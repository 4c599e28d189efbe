#include "client/compare_parts.h"
#include "client/counters_report.h"
#include "client/numbers.h"
#include "client/roofline.h"
#include "client/variation.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

namespace assay::client {
namespace {

std::string or_dash(const std::optional<double>& value, std::string_view unit) {
  return value ? quantity_text(*value, unit) : "-";
}

std::string raw_or_empty(const std::optional<double>& value) {
  return value ? raw_number_text(*value) : "";
}

std::string bound_text(const RooflinePoint& point) {
  return point.bound.empty()
             ? "-"
             : absl::StrCat(
                   point.bound,
                   ", ",
                   quantity_text(point.bound_value, point.bound == "read" ? "bytes/s" : "flop/s"));
}

std::vector<std::string> cells_of(const RooflinePoint& point) {
  return {point.stage,
          point.is_counted ? "counters" : "workload",
          or_dash(point.bytes, "bytes"),
          or_dash(point.flops, "flop"),
          or_dash(point.flop_per_byte(), ""),
          or_dash(point.flops_per_second(), "flop/s"),
          or_dash(point.bytes_per_second(), "bytes/s"),
          bound_text(point),
          point.attainable > 0 ? quantity_text(point.attainable, "flop/s") : "-",
          point.share > 0 ? percent_text(point.share) : "-"};
}

std::string ceilings_line(const v1::Device& device) {
  if (device.ceilings().empty()) {
    return "no ceilings of this device are stored; `assay device bench` measures them";
  }
  std::string text;
  for (const v1::Ceiling& ceiling : device.ceilings()) {
    if (ceiling.name() == "read" || ceiling.name() == "bf16" || ceiling.name() == "fp32") {
      absl::StrAppend(&text,
                      text.empty() ? "" : ", ",
                      ceiling.name(),
                      " ",
                      quantity_text(ceiling.value(), ceiling.unit()));
    }
  }
  return absl::StrCat("ceilings of ",
                      time_text(device.ceilings(0).measured_ns()),
                      " (experiment ",
                      device.ceilings(0).experiment_id(),
                      "): ",
                      text);
}

Table roofline_csv(const v1::Experiment& experiment) {
  Table table{{{"experiment_id"},
               {"configuration"},
               {"workload"},
               {"role"},
               {"arm"},
               {"stage"},
               {"source"},
               {"bytes"},
               {"flops"},
               {"median_ns"},
               {"flop_per_byte"},
               {"flops_per_second"},
               {"bytes_per_second"},
               {"bound"},
               {"bound_value"},
               {"attainable_flops_per_second"},
               {"share"}},
              {}};
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const Role role : kRoles) {
      for (const RooflinePoint& point : roofline(experiment, configuration, role)) {
        table.rows.push_back({absl::StrCat(experiment.experiment_id()),
                              absl::StrCat(configuration.configuration()),
                              proto::text_of(configuration.workload()),
                              role_name(role),
                              proto::text_of(measurement_of(configuration, role).arm()),
                              point.stage,
                              point.is_counted ? "counters" : "workload",
                              raw_or_empty(point.bytes),
                              raw_or_empty(point.flops),
                              point.median_ns > 0 ? absl::StrCat(point.median_ns) : "",
                              raw_or_empty(point.flop_per_byte()),
                              raw_or_empty(point.flops_per_second()),
                              raw_or_empty(point.bytes_per_second()),
                              point.bound,
                              point.bound.empty() ? "" : raw_number_text(point.bound_value),
                              point.attainable > 0 ? raw_number_text(point.attainable) : "",
                              point.share > 0 ? raw_number_text(point.share) : ""});
      }
    }
  }
  return table;
}

}  // namespace

void add_roofline(Report& report, const v1::Experiment& experiment) {
  const Variation variation(experiment);
  Table table = variation.table({{"stage"},
                                 {"from"},
                                 {"bytes", Align::kRight},
                                 {"flop", Align::kRight},
                                 {"flop/byte", Align::kRight},
                                 {"flop rate", Align::kRight},
                                 {"byte rate", Align::kRight},
                                 {"bounded by"},
                                 {"at most", Align::kRight},
                                 {"share", Align::kRight}});
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const Role role : kRoles) {
      for (const RooflinePoint& point : roofline(experiment, configuration, role)) {
        std::vector<std::string>& row =
            table.rows.emplace_back(variation.cells(configuration, role));
        const std::vector<std::string> cells = cells_of(point);
        row.insert(row.end(), cells.begin(), cells.end());
      }
    }
  }
  if (table.rows.empty()) {
    report.closing.emplace_back(
        "roofline: nothing was counted, and the operator does not say what a call needs at least");
    return;
  }
  report.tables.push_back(std::move(table));
  report.closing.push_back(ceilings_line(experiment.device()));
}

std::string roofline_text(const v1::Experiment& experiment, Format format) {
  if (format == Format::kCsv) {
    return csv_text(roofline_csv(experiment));
  }
  Report report = timed_head(experiment);
  add_roofline(report, experiment);
  return report_text(report, format);
}

}  // namespace assay::client
