#include "client/spec_options.h"

#include "client/axis.h"
#include "client/catalogue_text.h"
#include "client/duration.h"
#include "client/modes.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace assay::client {
namespace {

absl::StatusOr<v1::Schedule> parse_schedule(const std::string& name) {
  if (name == "bab") {
    return v1::BAB;
  }
  if (name == "ab") {
    return v1::AB;
  }
  if (name == "abba") {
    return v1::ABBA;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--schedule: `", name, "`: expected one of ab, abba, bab"));
}

// Each name once, in the order typed. Every metric's name has a double underscore.
absl::Status set_counters(const SpecOptions& options, v1::ExperimentSpec& spec) {
  constexpr std::array<std::string_view, 4> kGroups = {"dram", "l2", "tensor", "occupancy"};
  for (const std::string& name : options.counters) {
    if (std::ranges::find(kGroups, name) == kGroups.end() && name.find("__") == std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--counters: `",
                                                     name,
                                                     "`: expected dram, l2, tensor, occupancy or "
                                                     "the name of a metric, as in "
                                                     "dram__bytes_read.sum"));
    }
    if (std::ranges::find(spec.counters(), name) == spec.counters().end()) {
      spec.add_counters(name);
    }
  }
  return absl::OkStatus();
}

std::string random_request_id() {
  std::random_device device;
  std::string id = "assay-";
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&id, absl::StrFormat("%08x", device()));
  }
  return id;
}

absl::Status set_times(const SpecOptions& options, v1::ExperimentSpec& spec) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t budget_ns, parse_duration("--budget", options.budget));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t deadline_ns,
                         parse_duration("--deadline", options.deadline));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t admission_ns,
                         parse_duration("--admission", options.admission));
  spec.set_budget_ns(budget_ns);
  spec.set_deadline_ns(deadline_ns);
  spec.set_admission_ns(admission_ns);
  ASSAY_ASSIGN_OR_RETURN(const double effect, parse_effect("--least-effect", options.least_effect));
  ASSAY_ASSIGN_OR_RETURN(const double width,
                         parse_effect("--interval-width", options.interval_width));
  spec.set_least_effect(effect);
  spec.set_interval_width(width);
  return absl::OkStatus();
}

// "60s" is time, "200" a number of configurations.
absl::Status set_sweep(const SpecOptions& options, v1::ExperimentSpec& spec) {
  v1::SweepSpec& sweep = *spec.mutable_sweep();
  sweep.set_strategy(options.strategy);
  sweep.set_objective(options.objective);
  std::uint32_t number = 0;
  if (absl::SimpleAtoi(options.sweep_budget, &number) && number > 0) {
    sweep.set_max_configurations(number);
  } else if (!options.sweep_budget.empty()) {
    const absl::StatusOr<std::int64_t> budget_ns = parse_duration(options.sweep_budget);
    if (!budget_ns.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--budget: `",
                       options.sweep_budget,
                       "`: expected a running time, as in 60s, or a number of configurations"));
    }
    sweep.set_budget_ns(*budget_ns);
  }
  ASSAY_ASSIGN_OR_RETURN(const double drop_above, parse_effect("--drop-above", options.drop_above));
  sweep.set_drop_above(drop_above);
  return absl::OkStatus();
}

bool has_all(const v1::VariantInfo& variant, const std::vector<std::string>& parameters) {
  return std::ranges::all_of(parameters, [&](const std::string& name) {
    return std::ranges::find(variant.parameters(), name, &v1::AxisInfo::name) !=
           variant.parameters().end();
  });
}

// No variant has all of `walked`: one is of none, or they are of several.
absl::Status no_variant_has(const v1::OperatorInfo& info, const std::vector<std::string>& walked) {
  std::set<std::string> known;
  for (const v1::VariantInfo& variant : info.variants()) {
    for (const v1::AxisInfo& parameter : variant.parameters()) {
      known.insert(parameter.name());
    }
  }
  const auto unknown = std::ranges::find_if(
      walked, [&known](const std::string& name) { return !known.contains(name); });
  if (unknown == walked.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--variant: no variant of `",
                     info.name(),
                     walked.empty() ? "` has a launch parameter"
                                    : absl::StrCat("` has both ", absl::StrJoin(walked, " and "))));
  }
  for (const v1::AxisInfo& axis : info.axes()) {
    known.insert(axis.name());
  }
  return absl::InvalidArgumentError(absl::StrCat("-a: `",
                                                 *unknown,
                                                 "` is neither an axis nor a launch parameter of `",
                                                 info.name(),
                                                 "`: expected one of ",
                                                 absl::StrJoin(known, ", ")));
}

// The variant whose launch parameters a sweep walks.
absl::Status choose_swept(const v1::OperatorInfo& info, v1::ExperimentSpec& spec) {
  if (!spec.candidates().empty()) {
    return absl::OkStatus();
  }
  std::vector<std::string> walked;
  for (const v1::Axis& axis : spec.axes()) {
    if (std::ranges::find(info.axes(), axis.name(), &v1::AxisInfo::name) == info.axes().end()) {
      walked.push_back(axis.name());
    }
  }
  // The first variant is the simplest one and never tuned, unless it alone can be.
  for (const bool is_first : {false, true}) {
    for (const v1::VariantInfo& variant : info.variants()) {
      if ((&variant == &info.variants(0)) == is_first && !variant.parameters().empty() &&
          has_all(variant, walked)) {
        spec.add_candidates()->set_variant(variant.name());
        return absl::OkStatus();
      }
    }
  }
  return no_variant_has(info, walked);
}

absl::Status set_arms(const SpecOptions& options, v1::ExperimentSpec& spec) {
  if (!options.baseline.empty()) {
    ASSAY_ASSIGN_OR_RETURN(*spec.mutable_baseline(), proto::parse_arm(options.baseline));
  }
  for (const std::string& text : options.candidates) {
    ASSAY_ASSIGN_OR_RETURN(*spec.add_candidates(), proto::parse_arm(text));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Axis> axes, parse_axes(options.axes));
  spec.mutable_axes()->Add(axes.begin(), axes.end());
  spec.mutable_workloads()->Add(options.workloads.begin(), options.workloads.end());
  ASSAY_ASSIGN_OR_RETURN(const v1::Schedule schedule, parse_schedule(options.schedule));
  spec.set_schedule(schedule);
  ASSAY_ASSIGN_OR_RETURN(const v1::CacheMode cache_mode, parse_cache(options.cache));
  spec.set_cache_mode(cache_mode);
  ASSAY_ASSIGN_OR_RETURN(const v1::LaunchMode launch_mode, parse_launch_mode(options.launch_mode));
  spec.set_launch_mode(launch_mode);
  ASSAY_ASSIGN_OR_RETURN(const v1::TimingSource timing, parse_timing(options.timing));
  spec.set_timing_source(timing);
  return set_counters(options, spec);
}

// What was left out is what the daemon has: its device, the operator's first variant.
absl::Status complete(Connection& connection, v1::ExperimentSpec& spec) {
  ASSAY_ASSIGN_OR_RETURN(*spec.mutable_device(), device_or_default(connection, spec.device()));
  const bool has_arms = !spec.baseline().variant().empty() &&
                        (spec.kind() != v1::SWEEP || !spec.candidates().empty());
  if (spec.kind() == v1::CHECK || spec.kind() == v1::BENCH || has_arms) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::ListOperatorsResponse operators,
                         connection.operators(spec.device()));
  ASSAY_ASSIGN_OR_RETURN(const v1::OperatorInfo info,
                         find_operator(operators, spec.operator_name()));
  if (info.variants().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("operator `", info.name(), "` has no variant on ", spec.device()));
  }
  if (spec.baseline().variant().empty()) {
    spec.mutable_baseline()->set_variant(info.variants(0).name());
  }
  return spec.kind() == v1::SWEEP ? choose_swept(info, spec) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> device_or_default(Connection& connection, const std::string& device) {
  if (!device.empty()) {
    return device;
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::ListDevicesResponse devices, connection.devices());
  return default_device(devices);
}

absl::StatusOr<v1::SubmitRequest> make_request(v1::ExperimentKind kind,
                                               const SpecOptions& options,
                                               Connection& connection,
                                               const std::string& checkout_folder) {
  v1::SubmitRequest request;
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(kind);
  spec.set_operator_name(options.operator_name);
  spec.set_source_digest(options.source_digest);
  spec.set_device(options.device);
  spec.set_seed(options.seed);
  ASSAY_RETURN_IF_ERROR(set_context(options.context, checkout_folder, spec));
  ASSAY_RETURN_IF_ERROR(set_times(options, spec));
  if (kind == v1::CHECK) {
    spec.set_suite(options.suite);
  } else if (kind != v1::BENCH) {
    spec.set_num_calls(options.num_calls);
    spec.set_max_rounds(options.max_rounds);
    ASSAY_RETURN_IF_ERROR(set_arms(options, spec));
  }
  if (kind == v1::SWEEP) {
    ASSAY_RETURN_IF_ERROR(set_sweep(options, spec));
  }
  ASSAY_RETURN_IF_ERROR(complete(connection, spec));
  if (kind == v1::COMPARE && spec.candidates().empty()) {
    *spec.add_candidates() = spec.baseline();
  }
  request.set_request_id(options.request_id.empty() ? random_request_id() : options.request_id);
  return request;
}

}  // namespace assay::client
