#include "client/listed_text.h"

#include "client/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <utility>

namespace assay::client {
namespace {

using Group = std::vector<const ListedRow*>;

std::vector<Group> groups_of(const std::vector<ListedRow>& rows) {
  std::vector<Group> groups;
  for (const ListedRow& row : rows) {
    const auto same = std::ranges::find_if(groups, [&row](const Group& group) {
      return group[0]->operator_name == row.operator_name && group[0]->device == row.device;
    });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(&row);
  }
  return groups;
}

// Cases of a suite have names that are no axes: "parity/fp16/1".
bool has_axes(const ListedRow& row) {
  const Settings settings = workload_settings(row.workload);
  return std::ranges::none_of(settings, [](const auto& axis) { return axis.name().empty(); });
}

Report group_report(const std::vector<Column>& columns, const Group& group) {
  std::vector<Settings> all;
  for (const ListedRow* row : group) {
    if (has_axes(*row)) {
      all.push_back(workload_settings(row->workload));
    }
  }
  const Varying workloads(all);
  const bool shows_workload = workloads.any() || all.size() < group.size();
  Report report;
  for (const auto& [name, text] : {std::pair("operator", group[0]->operator_name),
                                   std::pair("device", group[0]->device),
                                   std::pair("workload", workloads.constant_text())}) {
    if (!text.empty()) {
      report.facts.emplace_back(name, text);
    }
  }
  Table table{columns, {}};
  if (shows_workload) {
    table.columns.insert(table.columns.begin() + 1, {"workload"});
  }
  for (const ListedRow* row : group) {
    std::vector<std::string>& cells = table.rows.emplace_back(row->cells);
    if (shows_workload) {
      cells.insert(
          cells.begin() + 1,
          has_axes(*row) ? workloads.text_of(workload_settings(row->workload)) : row->workload);
    }
  }
  report.tables.push_back(std::move(table));
  return report;
}

Table raw_table(const std::vector<Column>& columns,
                const std::vector<ListedRow>& rows,
                const std::vector<ListedPlace>& places) {
  Table table{columns, {}};
  for (const ListedRow& row : rows) {
    table.rows.push_back(row.cells);
  }
  for (const auto& [name, field, index] : places) {
    const auto offset = static_cast<std::ptrdiff_t>(index);
    table.columns.insert(table.columns.begin() + offset, {name});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.rows[i].insert(table.rows[i].begin() + offset, rows[i].*field);
    }
  }
  return table;
}

}  // namespace

Settings workload_settings(const std::string& workload) {
  Settings settings;
  const std::vector<std::string> axes = absl::StrSplit(workload, ',', absl::SkipEmpty());
  for (const std::string& axis : axes) {
    const std::size_t equals = axis.find('=');
    v1::Setting& setting = settings.emplace_back();
    setting.set_name(equals == std::string::npos ? "" : axis.substr(0, equals));
    setting.set_value(equals == std::string::npos ? axis : axis.substr(equals + 1));
  }
  return settings;
}

std::string listed_text(const std::vector<Column>& columns,
                        const std::vector<ListedRow>& rows,
                        const std::vector<ListedPlace>& places,
                        Format format) {
  if (format == Format::kCsv) {
    return csv_text(raw_table(columns, rows, places));
  }
  std::string text;
  for (const Group& group : groups_of(rows)) {
    absl::StrAppend(
        &text, text.empty() ? "" : "\n", report_text(group_report(columns, group), format));
  }
  return text;
}

}  // namespace assay::client
