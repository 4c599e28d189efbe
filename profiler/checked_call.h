// One call of an arm in the workspace's first set, on poison and between guard bands that go with
// it, and what it left.
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"
#include "profiler/digest.h"
#include "profiler/workspace.h"

#include "absl/status/status.h"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::profiler {

// `finished` gets the error of a launcher that gave up, and nothing is read then. The returned
// error is the device's. `trace` may be null.
absl::Status checked_call(Device& device,
                          Workspace& workspace,
                          const kernels::Problem& problem,
                          const ArmPlan& arm,
                          std::byte poison,
                          kernels::Trace* trace,
                          absl::Status& finished,
                          HostOutputs& outputs);

// The same on what lies in the set and in its bands.
absl::Status call_and_read(Device& device,
                           Workspace& workspace,
                           const kernels::Problem& problem,
                           const ArmPlan& arm,
                           kernels::Trace* trace,
                           absl::Status& finished,
                           HostOutputs& outputs);

// Whether the arm's form leaves this intermediate alone: then it holds nothing to look at.
bool is_left(const ArmPlan& arm, const ComparedTensor& tensor);

// In the order of `compared`; of what the arm leaves, a digest of nothing.
std::vector<Digest> digests_of(std::span<const ComparedTensor> compared,
                               const ArmPlan& arm,
                               const HostOutputs& outputs);

}  // namespace assay::profiler
