#include "profiler/checked_call.h"

#include "proto/status.h"

namespace assay::profiler {

absl::Status checked_call(Device& device,
                          Workspace& workspace,
                          const kernels::Problem& problem,
                          const ArmPlan& arm,
                          std::byte poison,
                          kernels::Trace* trace,
                          absl::Status& finished,
                          HostOutputs& outputs) {
  ASSAY_RETURN_IF_ERROR(workspace.poison(0, poison));
  ASSAY_RETURN_IF_ERROR(workspace.guard(poison));
  return call_and_read(device, workspace, problem, arm, trace, finished, outputs);
}

absl::Status call_and_read(Device& device,
                           Workspace& workspace,
                           const kernels::Problem& problem,
                           const ArmPlan& arm,
                           kernels::Trace* trace,
                           absl::Status& finished,
                           HostOutputs& outputs) {
  const kernels::Call call = {.problem = &problem,
                              .tensors = workspace.sets()[0],
                              .parameters = arm.parameters,
                              .trace = trace};
  ASSAY_RETURN_IF_ERROR(device.run(arm, call, finished));
  return finished.ok() ? workspace.read_outputs(0, outputs) : absl::OkStatus();
}

bool is_left(const ArmPlan& arm, const ComparedTensor& tensor) {
  return !tensor.is_output && arm.leaves_unwritten(tensor.tensor);
}

std::vector<Digest> digests_of(std::span<const ComparedTensor> compared,
                               const ArmPlan& arm,
                               const HostOutputs& outputs) {
  std::vector<Digest> digests;
  for (std::size_t place = 0; place < compared.size(); ++place) {
    digests.push_back(is_left(arm, compared[place])
                          ? Digest()
                          : digest_tensor(compared[place].layout, outputs.bytes[place].data()));
  }
  return digests;
}

}  // namespace assay::profiler
