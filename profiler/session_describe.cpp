#include "profiler/session.h"
#include "proto/status.h"

#include <string>
#include <vector>

namespace assay::profiler {

absl::Status Session::describe_arm(const Arm& arm, v1::Measurement& measurement) {
  *measurement.mutable_arm() = arm.plan.arm;
  measurement.set_family(arm.plan.family);
  measurement.set_timing_source(source_);
  measurement.set_launch_mode(launch_mode_);
  measurement.set_cache_mode(cache_mode_);
  measurement.set_num_input_sets(static_cast<std::uint32_t>(state_.workspace.sets().size()));
  measurement.set_min_bytes(problem_->min_bytes());
  measurement.set_min_flops(problem_->min_flops());
  for (const auto& [spec, digest] : state_.workspace.inputs()) {
    v1::TensorDigest& input = *measurement.add_inputs();
    input.set_tensor(spec->name);
    input.set_digest(digest.to_hex());
    input.set_dtype(std::string(kernels::name_of(spec->dtype)));
    input.mutable_shape()->Add(spec->shape.begin(), spec->shape.end());
  }
  const kernels::Call call = {.problem = problem_.get(), .parameters = arm.plan.parameters};
  std::vector<v1::KernelResources> resources;
  // What could not be launched cannot be described either.
  const bool is_launchable = measurement.bits().failed() != v1::BITS_FINISHED;
  for (const StagePlan& stage : arm.plan.stages) {
    if (is_launchable && stage.describe != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(resources.emplace_back(), stage.describe(call));
      *measurement.add_resources() = resources.back();
    }
  }
  if (measurement.traced_size() != measurement.resources_size()) {
    // Kernels that are not described may differ.
    for (v1::KernelResources& kernel : resources) {
      kernel.clear_machine_code();
    }
  }
  measurement.set_code_digest(state_.device.code_digest(arm.plan, resources));
  return absl::OkStatus();
}

}  // namespace assay::profiler
