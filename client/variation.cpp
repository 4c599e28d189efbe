#include "client/variation.h"

#include "client/compare_parts.h"

#include "absl/strings/str_cat.h"

namespace assay::client {
namespace {

const v1::Arm& asked_arm(const v1::Configuration& configuration, Role role) {
  return role == Role::kBaseline ? configuration.baseline_arm() : configuration.candidate_arm();
}

Settings arm_settings(const v1::Configuration& configuration, Role role) {
  return settings_of(arm_of(measurement_of(configuration, role), asked_arm(configuration, role)));
}

template <typename SettingsOf>
std::vector<Settings> settings(const v1::Experiment& experiment, SettingsOf settings_of_one) {
  std::vector<Settings> rows;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    rows.push_back(settings_of_one(configuration));
  }
  return rows;
}

}  // namespace

const v1::Measurement& measurement_of(const v1::Configuration& configuration, Role role) {
  return role == Role::kBaseline ? configuration.baseline() : configuration.candidate();
}

const char* role_name(Role role) {
  return role == Role::kBaseline ? "baseline" : "candidate";
}

std::int64_t stage_median_ns(const v1::Configuration& configuration,
                             Role role,
                             std::string_view stage) {
  for (const v1::StageVerdict& judged : last_verdict(configuration).stages()) {
    if (judged.stage() == stage) {
      return role == Role::kBaseline ? judged.baseline_median_ns() : judged.candidate_median_ns();
    }
  }
  return 0;
}

Variation::Variation(const v1::Experiment& experiment)
    : judged_(experiment.spec().kind() != v1::MEASURE),
      workloads_(settings(experiment,
                          [](const v1::Configuration& c) { return settings_of(c.workload()); })),
      baselines_(settings(
          experiment, [](const v1::Configuration& c) { return arm_settings(c, Role::kBaseline); })),
      candidates_(settings(experiment, [](const v1::Configuration& c) {
        return arm_settings(c, Role::kCandidate);
      })) {}

std::string Variation::workload_text(const v1::Configuration& configuration) const {
  return workloads_.text_of(settings_of(configuration.workload()));
}

std::string Variation::arm_text(const v1::Configuration& configuration, Role role) const {
  const Varying& arms = role == Role::kBaseline ? baselines_ : candidates_;
  return arms.text_of(arm_settings(configuration, role));
}

std::vector<std::pair<std::string, std::string>> Variation::constant_facts() const {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      facts.emplace_back(name, value);
    }
  };
  add(judged_ ? "A" : "arm", baselines_.constant_text());
  add("B", judged_ ? candidates_.constant_text() : "");
  add("workload", workloads_.constant_text());
  return facts;
}

Table Variation::table(const std::vector<Column>& columns) const {
  Table table;
  if (workloads_.any()) {
    table.columns.push_back({"workload"});
  }
  if (judged_ || baselines_.any()) {
    table.columns.push_back({"arm"});
  }
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

std::vector<std::string> Variation::cells(const v1::Configuration& configuration, Role role) const {
  std::vector<std::string> cells;
  if (workloads_.any()) {
    cells.push_back(workload_text(configuration));
  }
  const std::string arm = arm_text(configuration, role);
  if (judged_) {
    cells.push_back(absl::StrCat(role == Role::kBaseline ? "A" : "B", arm.empty() ? "" : " ", arm));
  } else if (baselines_.any()) {
    cells.push_back(arm);
  }
  return cells;
}

}  // namespace assay::client
