// Refusals: bad input or a missing capability. Nothing was launched and the runner is sound; any
// other error of the device half means that the runner is to be replaced.
#pragma once

#include "absl/status/status.h"

namespace assay::profiler {

// The status with the mark of a refusal; OK stays OK.
absl::Status refused(const absl::Status& status);
bool is_refused(const absl::Status& status);

}  // namespace assay::profiler
