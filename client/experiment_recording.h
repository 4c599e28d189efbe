// A stored experiment in the form of the files of other tools.
#pragma once

#include "client/recorded_file.h"
#include "proto/assay.pb.h"

namespace assay::client {

// A row for each configuration and arm, a sample a call: values are its workload's axes, the
// variant and the launch parameters, samples those of the stage "total" in blocks that count.
// `experiment` needs its samples. INVALID_ARGUMENT: a CHECK or BENCH, which times no arms.
absl::StatusOr<RecordedFile> recording_of(const v1::Experiment& experiment);

}  // namespace assay::client
