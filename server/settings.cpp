#include "server/settings.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace assay::server {

const v1::AxisInfo* find_axis(const AxisInfos& axes, const std::string& name) {
  const auto found =
      std::ranges::find_if(axes, [&](const v1::AxisInfo& axis) { return axis.name() == name; });
  return found == axes.end() ? nullptr : &*found;
}

absl::StatusOr<std::string> canonical_value(const v1::AxisInfo& axis,
                                            const std::string& value,
                                            const std::string& path) {
  if (!axis.choices().empty()) {
    if (std::ranges::find(axis.choices(), value) != axis.choices().end()) {
      return value;
    }
    return absl::InvalidArgumentError(absl::StrCat(path,
                                                   ": `",
                                                   value,
                                                   "` is no value of `",
                                                   axis.name(),
                                                   "`, which is one of ",
                                                   absl::StrJoin(axis.choices(), ", ")));
  }
  std::int64_t number = 0;
  const bool digits = !value.empty() && value.find_first_not_of("-0123456789") == std::string::npos;
  if (!digits || !absl::SimpleAtoi(value, &number) || number < axis.min() || number > axis.max()) {
    return absl::InvalidArgumentError(absl::StrCat(path,
                                                   ": `",
                                                   value,
                                                   "` is no value of `",
                                                   axis.name(),
                                                   "`, which is an integer in [",
                                                   axis.min(),
                                                   ", ",
                                                   axis.max(),
                                                   "]"));
  }
  return absl::StrCat(number);
}

Settings default_settings(const AxisInfos& axes) {
  Settings settings;
  for (const v1::AxisInfo& axis : axes) {
    v1::Setting& setting = *settings.Add();
    setting.set_name(axis.name());
    setting.set_value(axis.default_value());
  }
  return settings;
}

void set_value(Settings& settings, const std::string& name, const std::string& value) {
  for (v1::Setting& setting : settings) {
    if (setting.name() == name) {
      setting.set_value(value);
    }
  }
}

}  // namespace assay::server
