#include "server/sweep_axes.h"

#include "server/lookup.h"
#include "server/settings.h"
#include "tuning/sweep_space.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace assay::server {
namespace {

v1::Axis whole_axis(const v1::AxisInfo& info) {
  v1::Axis axis;
  axis.set_name(info.name());
  *axis.mutable_values() = info.choices();
  if (!info.choices().empty()) {
    return axis;
  }
  std::set<std::int64_t> values = {info.min(), info.max()};
  std::int64_t by_default = 0;
  if (absl::SimpleAtoi(info.default_value(), &by_default)) {
    values.insert(by_default);
  }
  for (std::int64_t value = 1; value < info.max(); value *= 2) {
    if (value > info.min()) {
      values.insert(value);
    }
    if (value > info.max() / 2) {
      break;
    }
  }
  for (const std::int64_t value : values) {
    axis.add_values(absl::StrCat(value));
  }
  return axis;
}

}  // namespace

void add_sweep_axes(const v1::OperatorInfo& info, v1::ExperimentSpec& spec) {
  const v1::Arm& candidate = spec.candidates(0);
  const bool has_own = std::ranges::any_of(spec.axes(), [&](const v1::Axis& axis) {
    return find_axis(info.axes(), axis.name()) == nullptr;
  });
  if (has_own) {
    return;
  }
  for (const v1::AxisInfo& parameter :
       find_named(info.variants(), candidate.variant())->parameters()) {
    if (find_axis(info.axes(), parameter.name()) == nullptr &&
        find_named(candidate.parameters(), parameter.name()) == nullptr) {
      *spec.add_axes() = whole_axis(parameter);
    }
  }
}

absl::StatusOr<tuning::PointSet> points_of_workload(std::span<const v1::Axis> axes,
                                                    const v1::Workload& workload,
                                                    const v1::Arm& defaults,
                                                    std::span<const std::string> restrictions) {
  std::vector<v1::Setting> fixed(workload.axes().begin(), workload.axes().end());
  for (const v1::Setting& parameter : defaults.parameters()) {
    if (std::ranges::find(axes, parameter.name(), &v1::Axis::name) == axes.end()) {
      fixed.push_back(parameter);
    }
  }
  return tuning::sweep_points(axes, fixed, restrictions);
}

}  // namespace assay::server
