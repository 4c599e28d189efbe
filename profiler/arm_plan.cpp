#include "profiler/arm_plan.h"

#include "profiler/module_file.h"
#include "proto/status.h"

#include <charconv>

namespace assay::profiler {

absl::StatusOr<std::vector<kernels::Setting>> complete_parameters(
    std::string_view variant, std::span<const kernels::AxisInfo> axes, const v1::Arm& given) {
  std::vector<kernels::Setting> settings;
  for (const v1::Setting& parameter : given.parameters()) {
    settings.emplace_back(parameter.name(), parameter.value());
  }
  auto complete = kernels::complete_settings(axes, settings);
  if (!complete.ok()) {
    return proto::annotate(complete.status(), absl::StrCat("parameters of ", std::string(variant)));
  }
  return complete;
}

kernels::LaunchParameters launch_parameters(std::span<const kernels::AxisInfo> axes,
                                            std::span<const kernels::Setting> settings) {
  kernels::LaunchParameters parameters;
  for (std::size_t place = 0; place < axes.size() && place < parameters.values.size(); ++place) {
    const std::string& value = settings[place].second;
    if (axes[place].choices.empty()) {
      std::from_chars(value.data(), value.data() + value.size(), parameters.values[place]);
    } else {
      const auto choice = std::ranges::find(axes[place].choices, value);
      parameters.values[place] = static_cast<std::int32_t>(choice - axes[place].choices.begin());
    }
  }
  return parameters;
}

std::string bits_domain_of(std::string_view of_row,
                           std::string_view family,
                           std::string_view of_operator,
                           const BitsDomains& domains) {
  if (of_row.empty() && family != kernels::kBaselineFamily) {
    return domains.own_family;
  }
  const std::string_view said = of_row.empty() ? of_operator : of_row;
  return said == kernels::kArchitecture ? domains.architecture : std::string(said);
}

std::string capability_text(int compute_capability) {
  return absl::StrCat(compute_capability / 10, ".", compute_capability % 10);
}

absl::Status check_compute_capability(std::string_view variant, int needed, int has) {
  return needed <= has ? absl::OkStatus()
                       : absl::FailedPreconditionError(absl::StrCat("`",
                                                                    std::string(variant),
                                                                    "` needs compute capability ",
                                                                    capability_text(needed),
                                                                    ", the device has ",
                                                                    capability_text(has)));
}

absl::StatusOr<kernels::Workload> complete_workload(const kernels::Operator& op,
                                                    const v1::Workload& given) {
  std::vector<kernels::Setting> settings;
  for (const v1::Setting& axis : given.axes()) {
    settings.emplace_back(axis.name(), axis.value());
  }
  ASSAY_ASSIGN_OR_RETURN(settings, kernels::complete_settings(op.axes, settings));
  kernels::Workload workload = {.axes = std::move(settings), .seed = given.seed()};
  if (op.validate != nullptr) {
    ASSAY_RETURN_IF_ERROR(op.validate(workload));
  }
  return workload;
}

v1::Workload workload_message(const kernels::Workload& workload, std::string_view name) {
  v1::Workload message;
  message.set_name(std::string(name));
  for (const auto& [axis, value] : workload.axes) {
    v1::Setting& setting = *message.add_axes();
    setting.set_name(axis);
    setting.set_value(value);
  }
  message.set_seed(workload.seed);
  return message;
}

v1::Workload settings_workload(
    std::span<const std::pair<std::string_view, std::string_view>> axes) {
  v1::Workload message;
  for (const auto& [axis, value] : axes) {
    v1::Setting& setting = *message.add_axes();
    setting.set_name(std::string(axis));
    setting.set_value(std::string(value));
  }
  return message;
}

v1::AxisInfo axis_message(const kernels::AxisInfo& axis) {
  v1::AxisInfo message;
  message.set_name(std::string(axis.name));
  message.set_help(std::string(axis.help));
  message.set_default_value(std::string(axis.default_value));
  for (const std::string_view choice : axis.choices) {
    message.add_choices(std::string(choice));
  }
  message.set_min(axis.min);
  message.set_max(axis.max);
  return message;
}

v1::OperatorInfo operator_message(const kernels::Operator& op) {
  v1::OperatorInfo info;
  info.set_name(std::string(op.name));
  info.set_summary(std::string(op.summary));
  info.set_module(std::string(module_of_operator(op.name)));
  for (const kernels::AxisInfo& axis : op.axes) {
    *info.add_axes() = axis_message(axis);
  }
  for (const kernels::NamedWorkload& named : op.workloads) {
    v1::NamedWorkload& message = *info.add_workloads();
    message.set_name(std::string(named.name));
    for (const auto& [axis, value] : named.axes) {
      v1::Setting& setting = *message.add_axes();
      setting.set_name(std::string(axis));
      setting.set_value(std::string(value));
    }
  }
  for (const kernels::CaseSuite& suite : op.suites) {
    v1::CheckInfo& check = *info.add_checks();
    check.set_suite(std::string(suite.suite));
    check.set_name(std::string(suite.name));
    check.set_help(std::string(suite.help));
  }
  for (const kernels::Invariance& invariance : op.invariances) {
    v1::CheckInfo& check = *info.add_checks();
    check.set_suite("invariances");
    check.set_name(std::string(invariance.name));
    check.set_help(std::string(invariance.help));
  }
  info.set_bits_domain(std::string(op.bits_domain));
  info.set_tolerance_alarm(op.tolerance_alarm);
  return info;
}

}  // namespace assay::profiler
