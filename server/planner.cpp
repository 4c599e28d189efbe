#include "proto/status.h"
#include "server/lookup.h"
#include "server/plan.h"
#include "server/settings.h"
#include "server/sweep_axes.h"
#include "tuning/strategy.h"

#include "absl/strings/str_cat.h"

#include <set>
#include <utility>

namespace assay::server {
namespace {

absl::Status refuse(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

absl::Status not_found(const std::string& path,
                       const std::string& what,
                       const std::string& name,
                       std::vector<std::string> valid) {
  return absl::NotFoundError(
      absl::StrCat(path, ": no ", what, " `", name, "`; it is ", one_of(std::move(valid))));
}

// "7.5" is 75; 0 when empty.
int capability_number(const std::string& text) {
  int number = 0;
  for (const char c : text) {
    number = c == '.' ? number : number * 10 + (c - '0');
  }
  return number;
}

// Multiplies, or says that the limit is passed.
bool multiply(std::uint64_t& product, std::uint64_t factor) {
  product *= factor;
  return product <= kMaxConfigurations;
}

}  // namespace

// Fills a Plan step by step; each step checks what the next one needs.
class Planner {
 public:
  Planner(const v1::ExperimentSpec& spec, const Description& description)
      : description_(description) {
    plan_.spec_ = spec;
  }

  absl::StatusOr<Plan> make() {
    const v1::ExperimentSpec& spec = plan_.spec_;
    if (spec.kind() == v1::BENCH) {
      ASSAY_RETURN_IF_ERROR(plan_bench());
      return std::move(plan_);
    }
    const auto* found = find_named(description_.operators, spec.operator_name());
    if (found == nullptr) {
      return not_found(
          "spec.operator_name", "operator", spec.operator_name(), names_of(description_.operators));
    }
    plan_.operator_ = *found;
    if (spec.kind() != v1::SWEEP && spec.has_sweep()) {
      return refuse("spec.sweep", "is of a SWEEP only");
    }
    if (spec.kind() == v1::CHECK) {
      ASSAY_RETURN_IF_ERROR(plan_checks());
    } else {
      ASSAY_RETURN_IF_ERROR(check_modes());
      ASSAY_RETURN_IF_ERROR(plan_arms());
      ASSAY_RETURN_IF_ERROR(plan_axes());
      ASSAY_RETURN_IF_ERROR(plan_workloads());
      ASSAY_RETURN_IF_ERROR(count());
      if (spec.kind() == v1::SWEEP) {
        ASSAY_RETURN_IF_ERROR(plan_points());
      }
    }
    return std::move(plan_);
  }

 private:
  // What only kinds with arms have.
  absl::Status refuse_arms() const {
    const v1::ExperimentSpec& spec = plan_.spec_;
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

  absl::Status plan_bench() {
    ASSAY_RETURN_IF_ERROR(refuse_arms());
    if (!plan_.spec_.operator_name().empty()) {
      return refuse("spec.operator_name", "a BENCH takes none");
    }
    if (!plan_.spec_.suite().empty()) {
      return refuse("spec.suite", "is of a CHECK only");
    }
    plan_.num_configurations_ = 1;
    return absl::OkStatus();
  }

  absl::Status plan_checks() {
    const v1::ExperimentSpec& spec = plan_.spec_;
    ASSAY_RETURN_IF_ERROR(refuse_arms());
    // Every item runs the baseline, so that a device that is too old for it runs none.
    if (!plan_.operator_.variants().empty()) {
      ASSAY_RETURN_IF_ERROR(check_age(plan_.operator_.variants(0), "spec.operator_name"));
    }
    std::set<std::string> valid = {"all"};
    for (const v1::CheckInfo& check : plan_.operator_.checks()) {
      const std::string full = absl::StrCat(check.suite(), "/", check.name());
      valid.insert(check.suite());
      if (spec.suite().empty() || spec.suite() == "all" || spec.suite() == check.suite() ||
          spec.suite() == full) {
        plan_.checks_.push_back(check);
      }
    }
    if (plan_.checks_.empty()) {
      return not_found("spec.suite", "suite", spec.suite(), {valid.begin(), valid.end()});
    }
    plan_.num_configurations_ = static_cast<std::uint32_t>(plan_.checks_.size());
    return absl::OkStatus();
  }

  absl::Status check_modes() const {
    const bool is_cpu = description_.device.backend() == "cpu";
    if (plan_.spec_.launch_mode() == v1::GRAPH && is_cpu) {
      return absl::FailedPreconditionError(
          "spec.launch_mode: the cpu device has no graphs; ask for STREAM");
    }
    const v1::TimingSource source = plan_.spec_.timing_source();
    if (source != v1::TIMING_SOURCE_UNSPECIFIED && is_cpu != (source == v1::STEADY_CLOCK)) {
      return absl::FailedPreconditionError(
          is_cpu ? "spec.timing_source: the cpu device has STEADY_CLOCK only"
                 : "spec.timing_source: a CUDA device has CUPTI_ACTIVITY and CUDA_EVENTS");
    }
    return absl::OkStatus();
  }

  absl::Status check_age(const v1::VariantInfo& variant, const std::string& path) const {
    const std::string& has = description_.device.compute_capability();
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

  absl::Status plan_arms() {
    v1::ExperimentSpec& spec = plan_.spec_;
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
      if (!spec.has_baseline() && !plan_.operator_.variants().empty()) {
        spec.mutable_baseline()->set_variant(plan_.operator_.variants(0).name());
      }
    }
    ASSAY_RETURN_IF_ERROR(check_arm(*spec.mutable_baseline(), "spec.baseline"));
    for (int i = 0; i < spec.candidates_size(); ++i) {
      ASSAY_RETURN_IF_ERROR(
          check_arm(*spec.mutable_candidates(i), absl::StrCat("spec.candidates[", i, "]")));
    }
    if (spec.kind() == v1::CALIBRATE) {
      plan_control();
    }
    return absl::OkStatus();
  }

  // The baseline against itself, on every named workload unless others are asked for.
  void plan_control() {
    v1::ExperimentSpec& spec = plan_.spec_;
    *spec.add_candidates() = spec.baseline();
    if (spec.workloads().empty() && spec.axes().empty()) {
      for (const v1::NamedWorkload& workload : plan_.operator_.workloads()) {
        spec.add_workloads(workload.name());
      }
    }
  }

  absl::Status check_arm(v1::Arm& arm, const std::string& path) {
    const v1::VariantInfo* variant = find_named(plan_.operator_.variants(), arm.variant());
    if (variant == nullptr) {
      return not_found(
          path + ".variant", "variant", arm.variant(), names_of(plan_.operator_.variants()));
    }
    ASSAY_RETURN_IF_ERROR(check_age(*variant, path + ".variant"));
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

  // Whether the axis reaches the arm: its variant has the parameter and the arm leaves it open.
  const v1::AxisInfo* parameter_of(const v1::Arm& arm, const std::string& name) const {
    return find_axis(find_named(plan_.operator_.variants(), arm.variant())->parameters(), name);
  }

  bool reaches(const v1::Arm& arm, const std::string& name) const {
    return parameter_of(arm, name) != nullptr && find_named(arm.parameters(), name) == nullptr;
  }

  absl::Status plan_axes() {
    if (plan_.spec_.kind() == v1::SWEEP) {
      add_sweep_axes(plan_.operator_, plan_.spec_);
    }
    std::set<std::string> seen;
    for (int i = 0; i < plan_.spec_.axes_size(); ++i) {
      v1::Axis& axis = *plan_.spec_.mutable_axes(i);
      const std::string path = absl::StrCat("spec.axes[", i, "]");
      if (!seen.insert(axis.name()).second) {
        return refuse(path + ".name", absl::StrCat("`", axis.name(), "` is given twice"));
      }
      if (axis.values().empty()) {
        return refuse(path + ".values", "must have at least one value");
      }
      // The name of a workload axis hides a launch parameter of the same name.
      if (const v1::AxisInfo* info = find_axis(plan_.operator_.axes(), axis.name())) {
        ASSAY_RETURN_IF_ERROR(check_values(axis, *info, path));
        plan_.workload_axes_.push_back(i);
        continue;
      }
      ASSAY_RETURN_IF_ERROR(check_parameter_axis(axis, path));
      parameter_axes_.push_back(i);
    }
    return absl::OkStatus();
  }

  absl::Status check_parameter_axis(v1::Axis& axis, const std::string& path) {
    std::vector<const v1::Arm*> arms;
    if (plan_.spec_.kind() != v1::SWEEP) {
      arms.push_back(&plan_.spec_.baseline());
    }
    for (const v1::Arm& candidate : plan_.spec_.candidates()) {
      arms.push_back(&candidate);
    }
    std::set<std::string> valid;
    for (const v1::AxisInfo& info : plan_.operator_.axes()) {
      valid.insert(info.name());
    }
    bool known = false;
    bool reached = false;
    for (const v1::Arm* arm : arms) {
      for (const v1::AxisInfo& info :
           find_named(plan_.operator_.variants(), arm->variant())->parameters()) {
        valid.insert(info.name());
      }
      if (const v1::AxisInfo* info = parameter_of(*arm, axis.name())) {
        known = true;
        if (reaches(*arm, axis.name())) {
          reached = true;
          ASSAY_RETURN_IF_ERROR(check_values(axis, *info, path));
        }
      }
    }
    if (!known) {
      return not_found(path + ".name",
                       "workload axis, nor launch parameter of an arm,",
                       axis.name(),
                       {valid.begin(), valid.end()});
    }
    if (!reached) {
      return refuse(path + ".name",
                    absl::StrCat("every arm that has `", axis.name(), "` sets it itself"));
    }
    return absl::OkStatus();
  }

  static absl::Status check_values(v1::Axis& axis,
                                   const v1::AxisInfo& info,
                                   const std::string& path) {
    for (int i = 0; i < axis.values_size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          const std::string value,
          canonical_value(info, axis.values(i), absl::StrCat(path, ".values[", i, "]")));
      axis.set_values(i, value);
    }
    return absl::OkStatus();
  }

  absl::Status plan_workloads() {
    v1::Workload base;
    *base.mutable_axes() = default_settings(plan_.operator_.axes());
    base.set_seed(plan_.spec_.seed());
    for (int i = 0; i < plan_.spec_.workloads_size(); ++i) {
      const std::string& name = plan_.spec_.workloads(i);
      const auto* named = find_named(plan_.operator_.workloads(), name);
      if (named == nullptr) {
        return not_found(absl::StrCat("spec.workloads[", i, "]"),
                         "workload",
                         name,
                         names_of(plan_.operator_.workloads()));
      }
      v1::Workload workload = base;
      workload.set_name(name);
      for (const v1::Setting& setting : named->axes()) {
        set_value(*workload.mutable_axes(), setting.name(), setting.value());
      }
      plan_.bases_.push_back(std::move(workload));
    }
    if (plan_.bases_.empty()) {
      plan_.bases_.push_back(std::move(base));
    }
    return absl::OkStatus();
  }

  absl::Status count() {
    const v1::ExperimentSpec& spec = plan_.spec_;
    std::uint64_t num_workloads = plan_.bases_.size();
    bool within = num_workloads <= kMaxConfigurations;
    for (const int axis : plan_.workload_axes_) {
      within = within &&
               multiply(num_workloads, static_cast<std::uint64_t>(spec.axes(axis).values_size()));
    }
    std::uint64_t num_lanes = 0;
    const int first = spec.kind() == v1::MEASURE ? -1 : 0;
    for (int candidate = first; within && candidate < spec.candidates_size(); ++candidate) {
      Plan::Lane lane;
      lane.candidate = candidate;
      for (const int axis : parameter_axes_) {
        const std::string& name = spec.axes(axis).name();
        if ((spec.kind() != v1::SWEEP && reaches(spec.baseline(), name)) ||
            (candidate >= 0 && reaches(spec.candidates(candidate), name))) {
          lane.axes.push_back(axis);
          // A sweep counts its valid points instead.
          within = within && (spec.kind() == v1::SWEEP ||
                              multiply(lane.num_settings,
                                       static_cast<std::uint64_t>(spec.axes(axis).values_size())));
        }
      }
      num_lanes += lane.num_settings;
      plan_.lanes_.push_back(std::move(lane));
    }
    if (!within || !multiply(num_workloads, num_lanes)) {
      return absl::ResourceExhaustedError(
          "spec.axes: more than 1,000,000 configurations in all, the limit");
    }
    plan_.num_configurations_ = static_cast<std::uint32_t>(num_workloads);
    plan_.num_workloads_ = static_cast<std::uint32_t>(num_workloads / num_lanes);
    return absl::OkStatus();
  }

  absl::Status plan_points() {
    const v1::ExperimentSpec& spec = plan_.spec_;
    std::vector<v1::Axis> axes;
    for (const int axis : plan_.lanes_.front().axes) {
      axes.push_back(spec.axes(axis));
    }
    std::uint64_t num = 0;
    std::size_t num_points = 0;
    for (std::uint32_t index = 0; index < plan_.num_workloads_; ++index) {
      // Without restrictions every workload has the same ones.
      if (index == 0 || !description_.restrictions.empty()) {
        auto points = points_of_workload(
            axes, plan_.workload(index), plan_.default_arm(), description_.restrictions);
        if (!points.ok()) {
          return proto::annotate(points.status(), "spec.axes");
        }
        num_points += points->size();
        plan_.points_.push_back(*std::move(points));
      }
      if (num_points > kMaxConfigurations) {
        return absl::ResourceExhaustedError(
            "spec.axes: more than 1,000,000 valid configurations in all, the limit");
      }
      num += plan_.most_tried(index);
    }
    const auto strategy =
        tuning::make_strategy(spec.sweep().strategy(), plan_.points_.front(), spec.seed());
    if (!strategy.ok()) {
      return proto::annotate(strategy.status(), "spec.sweep.strategy");
    }
    if (num > kMaxConfigurations) {
      return absl::ResourceExhaustedError(
          "spec.axes: more than 1,000,000 configurations in all, the limit");
    }
    plan_.num_configurations_ = static_cast<std::uint32_t>(num);
    return absl::OkStatus();
  }

  const Description& description_;
  Plan plan_;
  std::vector<int> parameter_axes_;
};

absl::StatusOr<Plan> make_plan(const v1::ExperimentSpec& spec, const Description& description) {
  return Planner(spec, description).make();
}

}  // namespace assay::server
