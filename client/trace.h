// The stored blocks of an experiment as a timeline for ui.perfetto.dev or chrome://tracing.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

// JSON. A process is a configuration; its tracks are the schedule, block by block, and for each arm
// the calls that were kept kernel by kernel. Times are the runner's steady clock since the first
// block. Nothing names a machine, a path or a user. Needs an experiment with samples;
// FAILED_PRECONDITION where nothing was timed.
absl::StatusOr<std::string> trace_text(const v1::Experiment& experiment);

}  // namespace assay::client
