#include "profiler/source_operator.h"

#include "profiler/failure_class.h"
#include "profiler/refusal.h"
#include "profiler/source_stage.h"
#include "proto/status.h"
#include "tuning/content_digest.h"
#include "tuning/source_scope.h"
#include "tuning/source_sizes.h"
#include "tuning/source_space.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <utility>

namespace assay::profiler {
namespace {

// "sm_90" of "9.0".
std::string architecture_of(const std::string& compute_capability) {
  std::string text = "sm_";
  std::ranges::copy_if(
      compute_capability, std::back_inserter(text), [](char letter) { return letter != '.'; });
  return text;
}

tuning::SourceSettings settings_of(const kernels::Workload& workload) {
  return workload_message(workload, "").axes();
}

// Where the status has none, the class of an arm that is no configuration.
absl::Status classified(const absl::Status& status, v1::FailureClass otherwise) {
  if (failure_of(status) != v1::FAILURE_CLASS_UNSPECIFIED || absl::IsNotFound(status)) {
    return status;
  }
  return with_failure(status, absl::IsResourceExhausted(status) ? v1::RESOURCES : otherwise);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SourceOperator>> SourceOperator::define(const v1::SourceSpec& spec,
                                                                       const FindBlob& find_blob,
                                                                       Device& device,
                                                                       SourceCompiler& compiler) {
  ASSAY_RETURN_IF_ERROR(device.takes_source());
  const std::string architecture = architecture_of(device.description().compute_capability());
  ASSAY_ASSIGN_OR_RETURN(v1::OperatorInfo info, tuning::describe_source(spec, architecture));
  std::unique_ptr<SourceOperator> defined(
      new SourceOperator(tuning::complete_source(spec), device, compiler));
  defined->info_ = std::move(info);
  defined->architecture_ = architecture;
  // Variants may be references, and can change under the same name.
  defined->reference_key_ =
      absl::StrCat(defined->info_.name(), "#", tuning::content_digest(spec.SerializeAsString()));
  ASSAY_RETURN_IF_ERROR(defined->keep_blobs(find_blob));
  return defined;
}

absl::Status SourceOperator::keep_blobs(const FindBlob& find_blob) {
  for (const v1::SourceTensor& tensor : spec_.tensors()) {
    for (const std::string& digest : {tensor.fill().digest(), tensor.reference().digest()}) {
      if (digest.empty()) {
        continue;
      }
      blobs_[digest] = find_blob(digest);
      if (blobs_[digest] == nullptr) {
        return absl::FailedPreconditionError(absl::StrCat(
            "tensor ", tensor.name(), ": the data with digest ", digest, " was not sent"));
      }
    }
  }
  return absl::OkStatus();
}

Blob SourceOperator::find_blob(const std::string& digest) const {
  const auto found = blobs_.find(digest);
  return found == blobs_.end() ? nullptr : found->second;
}

absl::StatusOr<kernels::Workload> SourceOperator::complete(const v1::Workload& given) const {
  std::vector<kernels::Setting> settings;
  for (const v1::Setting& axis : given.axes()) {
    settings.emplace_back(axis.name(), axis.value());
  }
  std::vector<kernels::AxisInfo> axes;
  for (const v1::AxisInfo& axis : info_.axes()) {
    axes.push_back({.name = axis.name(),
                    .help = axis.help(),
                    .default_value = axis.default_value(),
                    .min = axis.min(),
                    .max = axis.max()});
  }
  ASSAY_ASSIGN_OR_RETURN(settings, kernels::complete_settings(axes, settings));
  kernels::Workload workload = {.axes = std::move(settings), .seed = given.seed()};
  ASSAY_RETURN_IF_ERROR(problem_of(workload).status());
  return workload;
}

absl::StatusOr<std::unique_ptr<SourceProblem>> SourceOperator::problem_of(
    const kernels::Workload& workload) const {
  ASSAY_ASSIGN_OR_RETURN(auto shapes, tuning::source_shapes(spec_, settings_of(workload)));
  return SourceProblem::make(spec_, std::move(shapes), workload.seed, blobs_);
}

absl::StatusOr<std::unique_ptr<kernels::Problem>> SourceOperator::make_problem(
    const kernels::Workload& workload) const {
  return problem_of(workload);
}

absl::StatusOr<v1::Arm> SourceOperator::complete_arm(const kernels::Workload& workload,
                                                     const v1::Arm& arm) const {
  ASSAY_ASSIGN_OR_RETURN(const auto settings, tuning::source_parameters(spec_, arm));
  v1::Arm complete;
  complete.set_variant(arm.variant());
  for (const auto& [name, text] : settings) {
    const auto parameter = std::ranges::find(spec_.parameters(), name, &v1::SourceParameter::name);
    if (std::ranges::find(parameter->values(), text) == parameter->values().end()) {
      return classified(
          absl::InvalidArgumentError(absl::StrCat("parameter ",
                                                  name,
                                                  ": `",
                                                  text,
                                                  "` is none of ",
                                                  absl::StrJoin(parameter->values(), ", "))),
          v1::CONSTRAINTS);
    }
    v1::Setting& setting = *complete.add_parameters();
    setting.set_name(name);
    setting.set_value(text);
  }
  if (const absl::Status status =
          tuning::check_restrictions(spec_, settings_of(workload), complete);
      !status.ok()) {
    return classified(status, v1::CONSTRAINTS);
  }
  return complete;
}

absl::Status SourceOperator::validate(const kernels::Workload& workload, const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(const v1::Arm complete, complete_arm(workload, arm));
  const auto stages = tuning::source_stages(spec_, settings_of(workload), complete);
  return classified(stages.status(), v1::LAUNCH);
}

absl::StatusOr<CompileJob> SourceOperator::job_of(const v1::SourceVariant& variant,
                                                  const v1::Arm& arm,
                                                  const std::string& file) const {
  CompileJob job;
  job.files = {spec_.files().begin(), spec_.files().end()};
  job.source = file;
  job.options = {spec_.options().begin(), spec_.options().end()};
  job.options.insert(job.options.end(), variant.options().begin(), variant.options().end());
  ASSAY_ASSIGN_OR_RETURN(job.defines, tuning::source_macros(spec_, arm));
  for (const v1::SourceStage& stage : variant.stages()) {
    if (stage.file() == file && std::ranges::find(job.names, stage.kernel()) == job.names.end()) {
      job.names.push_back(stage.kernel());
    }
  }
  job.architecture = architecture_;
  return job;
}

absl::StatusOr<std::vector<StagePlan>> SourceOperator::plan_stages(
    const v1::SourceVariant& variant, const kernels::Workload& workload, const v1::Arm& arm) {
  auto sizes = tuning::source_stages(spec_, settings_of(workload), arm);
  if (!sizes.ok()) {
    return classified(sizes.status(), v1::LAUNCH);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<SourceProblem> problem, problem_of(workload));
  std::map<std::string, SourceModule> modules;
  std::vector<StagePlan> plans;
  for (int index = 0; index < variant.stages_size(); ++index) {
    const v1::SourceStage& stage = variant.stages(index);
    if (!modules.contains(stage.file())) {
      SourceModule& module = modules[stage.file()];
      ASSAY_ASSIGN_OR_RETURN(CompileJob job, job_of(variant, arm, stage.file()));
      ASSAY_ASSIGN_OR_RETURN(module.compiled, compiler_.compile(job));
      module.names = std::move(job.names);
      const std::string& log = module.compiled->log;
      if (!log.empty() && std::ranges::find(log_, log) == log_.end()) {
        log_.push_back(log);
      }
      ASSAY_ASSIGN_OR_RETURN(module.code, device_.load_source(module.compiled->cubin));
    }
    auto launch = source_launch(stage,
                                modules.at(stage.file()),
                                std::move((*sizes)[static_cast<std::size_t>(index)]),
                                *problem);
    if (!launch.ok()) {
      return classified(launch.status(), v1::LAUNCH);
    }
    if (index == 0) {
      launch->copies = problem->copies();
    }
    auto plan = device_.bind_source(*launch);
    if (!plan.ok()) {
      return classified(plan.status(), v1::LAUNCH);
    }
    plan->name = stage.name();
    plan->code = identity_words(modules.at(stage.file()));
    plans.push_back(*std::move(plan));
  }
  return plans;
}

absl::StatusOr<ArmPlan> SourceOperator::plan(const kernels::Workload& workload,
                                             const v1::Arm& arm) {
  ArmPlan plan;
  ASSAY_ASSIGN_OR_RETURN(const v1::SourceVariant* variant,
                         tuning::source_variant(spec_, arm.variant()));
  ASSAY_ASSIGN_OR_RETURN(plan.arm, complete_arm(workload, arm));
  plan.family = variant->family();
  ASSAY_ASSIGN_OR_RETURN(plan.stages, plan_stages(*variant, workload, plan.arm));
  return plan;
}

absl::Status SourceOperator::prepare_references(const kernels::Workload& workload,
                                                kernels::Problem& problem,
                                                const std::string& key,
                                                const ReferenceCache& references,
                                                Device& device,
                                                Workspace& workspace) {
  auto& of_source = static_cast<SourceProblem&>(problem);
  std::map<std::string, std::vector<std::string>> wanted;  // tensors by variant
  for (const v1::SourceTensor& tensor : spec_.tensors()) {
    if (!tensor.reference().variant().empty() &&
        !references.has(absl::StrCat(key, "/", tensor.name()))) {
      wanted[tensor.reference().variant()].push_back(tensor.name());
    }
  }
  for (const auto& [variant, tensors] : wanted) {
    v1::Arm arm;
    arm.set_variant(variant);
    const auto plan = this->plan(workload, arm);
    if (!plan.ok()) {
      return refused(plan.status());
    }
    ASSAY_RETURN_IF_ERROR(run_reference(*plan, of_source, tensors, device, workspace));
  }
  return absl::OkStatus();
}

absl::Status SourceOperator::timed_by_kernels_only() const {
  for (const v1::SourceTensor& tensor : spec_.tensors()) {
    if (tensor.role() == "in_out") {
      return absl::FailedPreconditionError(
          absl::StrCat("tensor ",
                       tensor.name(),
                       " is in_out, so every call first puts its start back; only times of single "
                       "kernels, by CUPTI on a stream, leave that out"));
    }
  }
  return absl::OkStatus();
}

std::string SourceOperator::take_log() {
  std::string text = absl::StrJoin(log_, "\n");
  log_.clear();
  return text;
}

}  // namespace assay::profiler
