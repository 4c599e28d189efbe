// Whether arms follow their inputs: where these change and nothing else does, each must give what
// is right for the new ones. It rejects an arm that hands out a saved output because it has seen
// the pointers, the shapes or a part of the bytes before.
#pragma once

#include "kernels/operator.h"
#include "profiler/arm_check.h"
#include "profiler/device.h"
#include "profiler/workspace.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <span>

namespace assay::profiler {

struct FollowingArm {
  const ArmPlan* plan = nullptr;
  const CheckedOutputs* checked = nullptr;  // on the inputs before
  v1::Measurement* measurement = nullptr;   // gets the failure
};

// Runs the arms, the baseline first, in the workspace's first set with the inputs of `other`, which
// differs from the loaded problem in its seed alone; then the inputs are as before. The first arm
// that fails ends it. Says nothing where shapes or live elements follow the seed. The returned
// error is the device's.
absl::Status check_other_inputs(Device& device,
                                Workspace& workspace,
                                const kernels::Problem& other,
                                std::span<const FollowingArm> arms);

}  // namespace assay::profiler
