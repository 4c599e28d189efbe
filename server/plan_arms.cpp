#include "server/plan_arms.h"

#include "proto/status.h"
#include "server/field_errors.h"
#include "server/lookup.h"
#include "server/settings.h"

#include "absl/strings/str_cat.h"

#include <set>

namespace assay::server {
namespace {

// "7.5" is 75; 0 when empty.
int capability_number(const std::string& text) {
  int number = 0;
  for (const char c : text) {
    number = c == '.' ? number : number * 10 + (c - '0');
  }
  return number;
}

// The baseline against itself, on every named workload unless others are asked for.
void plan_control(const v1::OperatorInfo& info, v1::ExperimentSpec& spec) {
  *spec.add_candidates() = spec.baseline();
  if (spec.workloads().empty() && spec.axes().empty()) {
    for (const v1::NamedWorkload& workload : info.workloads()) {
      spec.add_workloads(workload.name());
    }
  }
}

absl::Status check_arm(const v1::OperatorInfo& info,
                       const v1::Device& device,
                       v1::Arm& arm,
                       const std::string& path) {
  const v1::VariantInfo* variant = find_named(info.variants(), arm.variant());
  if (variant == nullptr) {
    return not_found(path + ".variant", "variant", arm.variant(), names_of(info.variants()));
  }
  ASSAY_RETURN_IF_ERROR(check_age(device, *variant, path + ".variant"));
  std::set<std::string> seen;
  for (int i = 0; i < arm.parameters_size(); ++i) {
    v1::Setting& parameter = *arm.mutable_parameters(i);
    const std::string place = absl::StrCat(path, ".parameters[", i, "]");
    const v1::AxisInfo* axis = find_axis(variant->parameters(), parameter.name());
    if (axis == nullptr) {
      return not_found(place + ".name",
                       absl::StrCat("launch parameter of `", arm.variant(), "`"),
                       parameter.name(),
                       names_of(variant->parameters()));
    }
    if (!seen.insert(parameter.name()).second) {
      return refuse(place + ".name", absl::StrCat("`", parameter.name(), "` is set twice"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string value,
                           canonical_value(*axis, parameter.value(), place + ".value"));
    parameter.set_value(value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status refuse_arms(const v1::ExperimentSpec& spec) {
  const std::string why = absl::StrCat("a ", v1::ExperimentKind_Name(spec.kind()), " takes none");
  if (!spec.axes().empty()) {
    return refuse("spec.axes", why);
  }
  if (!spec.workloads().empty()) {
    return refuse("spec.workloads", why);
  }
  if (spec.has_baseline()) {
    return refuse("spec.baseline", why);
  }
  if (!spec.candidates().empty()) {
    return refuse("spec.candidates", why);
  }
  if (spec.launch_mode() == v1::GRAPH) {
    return refuse("spec.launch_mode", why);
  }
  if (spec.timing_source() != v1::TIMING_SOURCE_UNSPECIFIED) {
    return refuse("spec.timing_source", why);
  }
  if (spec.interval_width() != 0) {
    return refuse("spec.interval_width", why);
  }
  return spec.counters().empty() ? absl::OkStatus() : refuse("spec.counters", why);
}

absl::Status check_modes(const v1::ExperimentSpec& spec, const v1::Device& device) {
  const bool is_cpu = device.backend() == "cpu";
  if (spec.launch_mode() == v1::GRAPH && is_cpu) {
    return absl::FailedPreconditionError(
        "spec.launch_mode: the cpu device has no graphs; ask for STREAM");
  }
  const v1::TimingSource source = spec.timing_source();
  if (source != v1::TIMING_SOURCE_UNSPECIFIED && is_cpu != (source == v1::STEADY_CLOCK)) {
    return absl::FailedPreconditionError(
        is_cpu ? "spec.timing_source: the cpu device has STEADY_CLOCK only"
               : "spec.timing_source: a CUDA device has CUPTI_ACTIVITY and CUDA_EVENTS");
  }
  return absl::OkStatus();
}

absl::Status check_age(const v1::Device& device,
                       const v1::VariantInfo& variant,
                       const std::string& path) {
  const std::string& has = device.compute_capability();
  if (has.empty() ||
      capability_number(has) >= capability_number(variant.min_compute_capability())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(path,
                                                    ": `",
                                                    variant.name(),
                                                    "` needs compute capability ",
                                                    variant.min_compute_capability(),
                                                    ", the device has ",
                                                    has));
}

absl::Status plan_arms(const v1::OperatorInfo& info,
                       const v1::Device& device,
                       v1::ExperimentSpec& spec) {
  if (!spec.suite().empty()) {
    return refuse("spec.suite", "is of a CHECK only");
  }
  const bool is_alone = spec.kind() == v1::MEASURE || spec.kind() == v1::CALIBRATE;
  if (is_alone && !spec.candidates().empty()) {
    return refuse(
        "spec.candidates",
        absl::StrCat("a ", v1::ExperimentKind_Name(spec.kind()), " takes the baseline alone"));
  }
  if (spec.kind() == v1::MEASURE && spec.interval_width() != 0) {
    return refuse("spec.interval_width", "a MEASURE has no ratio");
  }
  if (spec.kind() == v1::COMPARE && spec.candidates().empty()) {
    return refuse("spec.candidates", "a COMPARE needs at least one");
  }
  if (spec.kind() == v1::SWEEP) {
    if (spec.candidates_size() != 1) {
      return refuse("spec.candidates", "a SWEEP needs exactly one, whose parameters it walks");
    }
    // Bits are held against the operator's first variant unless another is asked for.
    if (!spec.has_baseline() && !info.variants().empty()) {
      spec.mutable_baseline()->set_variant(info.variants(0).name());
    }
  }
  ASSAY_RETURN_IF_ERROR(check_arm(info, device, *spec.mutable_baseline(), "spec.baseline"));
  for (int i = 0; i < spec.candidates_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(check_arm(
        info, device, *spec.mutable_candidates(i), absl::StrCat("spec.candidates[", i, "]")));
  }
  if (spec.kind() == v1::CALIBRATE) {
    plan_control(info, spec);
  }
  return absl::OkStatus();
}

}  // namespace assay::server
