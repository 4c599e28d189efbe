#include "server/plan.h"

#include "proto/status.h"
#include "server/context.h"
#include "server/field_errors.h"
#include "server/lookup.h"
#include "server/settings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::server {
namespace {

absl::Status check_duration(const std::string& path, std::int64_t value_ns) {
  if (value_ns < 0 || value_ns > kMaxDurationNs) {
    return refuse(path, "must be in [0, 86,400,000,000,000]");
  }
  return absl::OkStatus();
}

// The last axis runs fastest. Calls set(name, value) for each axis.
template <class Set>
void for_settings(const v1::ExperimentSpec& spec,
                  const std::vector<int>& axes,
                  std::uint64_t index,
                  const Set& set) {
  for (auto place = axes.rbegin(); place != axes.rend(); ++place) {
    const v1::Axis& axis = spec.axes(*place);
    const auto size = static_cast<std::uint64_t>(axis.values_size());
    set(axis.name(), axis.values(static_cast<int>(index % size)));
    index /= size;
  }
}

// All parameters in the variant's order: defaults, then those of axes, then the arm's own.
v1::Arm complete_arm(const v1::OperatorInfo& info,
                     const v1::Arm& asked,
                     const std::vector<std::pair<std::string, std::string>>& from_axes) {
  v1::Arm arm;
  arm.set_variant(asked.variant());
  *arm.mutable_parameters() =
      default_settings(find_named(info.variants(), asked.variant())->parameters());
  for (const auto& [name, value] : from_axes) {
    set_value(*arm.mutable_parameters(), name, value);
  }
  for (const v1::Setting& own : asked.parameters()) {
    set_value(*arm.mutable_parameters(), own.name(), own.value());
  }
  return arm;
}

}  // namespace

std::string one_of(std::vector<std::string> names) {
  if (names.empty()) {
    return "none here";
  }
  std::ranges::sort(names);
  return absl::StrCat("one of `", absl::StrJoin(names, "`, `"), "`");
}

absl::Status check_request(const v1::SubmitRequest& request) {
  const v1::ExperimentSpec& spec = request.spec();
  if (request.request_id().empty() || request.request_id().size() > kMaxRequestIdBytes) {
    return refuse("request_id", "must be 1 to 128 bytes");
  }
  if (!v1::ExperimentKind_IsValid(spec.kind()) || spec.kind() == v1::EXPERIMENT_KIND_UNSPECIFIED) {
    return refuse("spec.kind", "must be COMPARE, MEASURE, CHECK, CALIBRATE, BENCH or SWEEP");
  }
  if (spec.confirms_regression_id() != 0) {
    return refuse("spec.confirms_regression_id", "is set by the daemon alone; leave it out");
  }
  if (!v1::Schedule_IsValid(spec.schedule())) {
    return refuse("spec.schedule", "must be AB, BAB or ABBA");
  }
  if (!v1::CacheMode_IsValid(spec.cache_mode())) {
    return refuse("spec.cache_mode", "must be HOT or COLD");
  }
  if (!v1::LaunchMode_IsValid(spec.launch_mode())) {
    return refuse("spec.launch_mode", "must be STREAM or GRAPH");
  }
  if (!v1::TimingSource_IsValid(spec.timing_source())) {
    return refuse("spec.timing_source", "must be STEADY_CLOCK, CUPTI_ACTIVITY or CUDA_EVENTS");
  }
  for (int i = 0; i < spec.counters_size(); ++i) {
    if (spec.counters(i).empty() || spec.counters(i).size() > kMaxCounterBytes) {
      return refuse(absl::StrCat("spec.counters[", i, "]"), "must be 1 to 200 bytes");
    }
  }
  if (spec.counters_size() > kMaxCounters) {
    return absl::ResourceExhaustedError(
        absl::StrCat("spec.counters: ", spec.counters_size(), " names, the limit is 64"));
  }
  if (spec.num_calls() > kMaxCalls) {
    return refuse("spec.num_calls", "must be in [0, 10,000]");
  }
  if (spec.max_rounds() > kMaxRounds) {
    return refuse("spec.max_rounds", "must be in [0, 48]");
  }
  if (!std::isfinite(spec.least_effect()) || spec.least_effect() < 0 ||
      spec.least_effect() > kMaxLeastEffect) {
    return refuse("spec.least_effect", "must be in [0, 0.5]");
  }
  if (!std::isfinite(spec.interval_width()) || spec.interval_width() < 0 ||
      spec.interval_width() > kMaxLeastEffect) {
    return refuse("spec.interval_width", "must be in [0, 0.5]");
  }
  // What is stored must fit into every message that shows it.
  if (const std::size_t num_bytes = spec.ByteSizeLong(); num_bytes > kMaxSpecBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("spec: has ", num_bytes, " bytes, the limit is 12,582,912"));
  }
  if (spec.label().size() > kMaxLabelBytes) {
    return refuse("spec.label",
                  absl::StrCat("has ", spec.label().size(), " bytes, the limit is 200"));
  }
  ASSAY_RETURN_IF_ERROR(check_context(spec.context()));
  if (!std::isfinite(spec.sweep().drop_above()) || spec.sweep().drop_above() < 0 ||
      spec.sweep().drop_above() > 1) {
    return refuse("spec.sweep.drop_above", "must be in [0, 1]");
  }
  if (!spec.sweep().objective().empty() && spec.sweep().objective() != "median") {
    return refuse("spec.sweep.objective", "must be median");
  }
  ASSAY_RETURN_IF_ERROR(check_duration("spec.sweep.budget_ns", spec.sweep().budget_ns()));
  ASSAY_RETURN_IF_ERROR(check_duration("spec.budget_ns", spec.budget_ns()));
  ASSAY_RETURN_IF_ERROR(check_duration("spec.admission_ns", spec.admission_ns()));
  return check_duration("spec.deadline_ns", spec.deadline_ns());
}

v1::Workload Plan::workload(std::uint32_t index) const {
  const std::uint64_t num_settings = num_workloads_ / bases_.size();
  v1::Workload workload = bases_[index / num_settings];
  for_settings(spec_,
               workload_axes_,
               index % num_settings,
               [&](const std::string& name, const std::string& value) {
                 set_value(*workload.mutable_axes(), name, value);
               });
  return workload;
}

v1::Configuration Plan::configuration(std::uint32_t number) const {
  v1::Configuration configuration;
  configuration.set_configuration(number);
  std::uint64_t index = number - 1;
  if (spec_.kind() == v1::CHECK) {
    const v1::CheckInfo& check = checks_[index];
    configuration.mutable_check()->set_suite(check.suite());
    configuration.mutable_check()->set_name(check.name());
    return configuration;
  }
  if (spec_.kind() == v1::BENCH) {
    return configuration;
  }
  const std::uint64_t a_workload = num_configurations_ / num_workloads_;
  *configuration.mutable_workload() = workload(static_cast<std::uint32_t>(index / a_workload));
  index %= a_workload;
  auto lane = lanes_.begin();
  while (index >= lane->num_settings) {
    index -= lane->num_settings;
    ++lane;
  }
  std::vector<std::pair<std::string, std::string>> from_axes;
  for_settings(spec_, lane->axes, index, [&](const std::string& name, const std::string& value) {
    from_axes.emplace_back(name, value);
  });
  *configuration.mutable_baseline_arm() = complete_arm(operator_, spec_.baseline(), from_axes);
  if (lane->candidate >= 0) {
    *configuration.mutable_candidate_arm() =
        complete_arm(operator_, spec_.candidates(lane->candidate), from_axes);
  }
  return configuration;
}

std::uint32_t Plan::most_tried(std::uint32_t workload) const {
  const auto size = static_cast<std::uint32_t>(points(workload).size());
  const std::uint32_t asked = spec_.sweep().max_configurations();
  return asked == 0 ? size : std::min(asked, size);
}

v1::Arm Plan::sweep_arm(std::span<const std::uint16_t> places) const {
  const std::vector<int>& axes = lanes_.front().axes;
  std::vector<std::pair<std::string, std::string>> from_axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const v1::Axis& of = spec_.axes(axes[axis]);
    from_axes.emplace_back(of.name(), of.values(places[axis]));
  }
  return complete_arm(operator_, spec_.candidates(0), from_axes);
}

v1::Arm Plan::default_arm() const {
  return complete_arm(operator_, spec_.candidates(0), {});
}

v1::Arm Plan::baseline_arm() const {
  return complete_arm(operator_, spec_.baseline(), {});
}

}  // namespace assay::server
