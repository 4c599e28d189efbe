#include "proto/status.h"
#include "server/field_errors.h"
#include "server/lookup.h"
#include "server/plan.h"
#include "server/plan_arms.h"
#include "server/plan_axes.h"
#include "server/settings.h"
#include "server/sweep_axes.h"
#include "tuning/strategy.h"

#include "absl/strings/str_cat.h"

#include <set>
#include <utility>

namespace assay::server {
namespace {

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
      ASSAY_RETURN_IF_ERROR(check_modes(spec, description_.device));
      ASSAY_RETURN_IF_ERROR(plan_arms(plan_.operator_, description_.device, plan_.spec_));
      ASSAY_ASSIGN_OR_RETURN(AxisRoles roles, plan_axes(plan_.operator_, plan_.spec_));
      plan_.workload_axes_ = std::move(roles.of_workload);
      parameter_axes_ = std::move(roles.of_parameters);
      ASSAY_RETURN_IF_ERROR(plan_workloads());
      ASSAY_RETURN_IF_ERROR(count());
      if (spec.kind() == v1::SWEEP) {
        ASSAY_RETURN_IF_ERROR(plan_points());
      }
    }
    return std::move(plan_);
  }

 private:
  absl::Status plan_bench() {
    ASSAY_RETURN_IF_ERROR(refuse_arms(plan_.spec_));
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
    ASSAY_RETURN_IF_ERROR(refuse_arms(spec));
    // Every item runs the baseline, so that a device that is too old for it runs none.
    if (!plan_.operator_.variants().empty()) {
      ASSAY_RETURN_IF_ERROR(
          check_age(description_.device, plan_.operator_.variants(0), "spec.operator_name"));
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
        if ((spec.kind() != v1::SWEEP && reaches(plan_.operator_, spec.baseline(), name)) ||
            (candidate >= 0 && reaches(plan_.operator_, spec.candidates(candidate), name))) {
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
