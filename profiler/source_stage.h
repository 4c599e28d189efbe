// The steps between a source's stage and a launch of it: its kernel in the compiled code, its
// arguments, and the one run whose outputs are a reference.
#pragma once

#include "profiler/device.h"
#include "profiler/source_compiler.h"
#include "profiler/source_launch.h"
#include "profiler/source_problem.h"
#include "profiler/workspace.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {

// One file of a variant, compiled and on the device.
struct SourceModule {
  std::shared_ptr<const CompiledSource> compiled;
  std::vector<std::string> names;  // in the order of its symbols
  std::shared_ptr<LoadedSource> code;
};

// INVALID_ARGUMENT: the kernel takes another number of arguments, or others by their size.
absl::StatusOr<SourceLaunch> source_launch(const v1::SourceStage& stage,
                                           const SourceModule& module,
                                           tuning::StageSizes sizes,
                                           const SourceProblem& problem);

// Stand for the code where a device knows no instructions.
std::vector<std::uintptr_t> identity_words(const SourceModule& module);

// Runs the arm in the workspace's first set and takes what it wrote as the reference of `tensors`.
// Refused when it does not finish, or changes what it only reads; else the error is the device's.
absl::Status run_reference(const ArmPlan& arm,
                           SourceProblem& problem,
                           const std::vector<std::string>& tensors,
                           Device& device,
                           Workspace& workspace);

}  // namespace assay::profiler
