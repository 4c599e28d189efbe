#include "proto/settings.h"

#include "absl/strings/str_cat.h"

#include <map>

namespace assay::proto {
namespace {

v1::Setting bare(const std::string& value) {
  v1::Setting setting;
  setting.set_value(value);
  return setting;
}

void append(std::string& text, const v1::Setting& setting) {
  absl::StrAppend(&text,
                  text.empty() ? "" : ", ",
                  setting.name(),
                  setting.name().empty() ? "" : "=",
                  setting.value());
}

}  // namespace

Settings settings_of(const v1::Workload& workload) {
  Settings settings;
  if (!workload.name().empty()) {
    settings.push_back(bare(workload.name()));
  }
  settings.insert(settings.end(), workload.axes().begin(), workload.axes().end());
  return settings;
}

Settings settings_of(const v1::Arm& arm) {
  Settings settings = {bare(arm.variant())};
  settings.insert(settings.end(), arm.parameters().begin(), arm.parameters().end());
  return settings;
}

Varying::Varying(const std::vector<Settings>& rows) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> num_rows;
  for (const Settings& row : rows) {
    for (const v1::Setting& setting : row) {
      values[setting.name()].insert(setting.value());
      ++num_rows[setting.name()];
    }
  }
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1 || num_rows[name] < rows.size()) {
      names_.insert(name);
    }
  }
  if (rows.empty()) {
    return;
  }
  for (const v1::Setting& setting : rows.front()) {
    if (!names_.contains(setting.name())) {
      constant_.push_back(setting);
    }
  }
}

std::string Varying::constant_text() const {
  std::string text;
  for (const v1::Setting& setting : constant_) {
    append(text, setting);
  }
  return text;
}

std::string Varying::text_of(const Settings& row) const {
  std::string text;
  for (const v1::Setting& setting : row) {
    if (names_.contains(setting.name())) {
      append(text, setting);
    }
  }
  return text;
}

}  // namespace assay::proto
