// A digest that is equal for two arms only if they run the same machine code: the program's build
// id, its launchers and what the backend knows of their kernels.
#pragma once

#include "profiler/arm_plan.h"
#include "proto/assay.pb.h"

#include <span>
#include <string>

namespace assay::profiler {

std::string code_digest_of(const ArmPlan& arm, std::span<const v1::KernelResources> resources);

}  // namespace assay::profiler
