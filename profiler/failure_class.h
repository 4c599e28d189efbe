// The class of a failure, carried by a status from where it is known to the reply that says it.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"

namespace assay::profiler {

// The status with the class; OK stays OK.
absl::Status with_failure(const absl::Status& status, v1::FailureClass failure);
// FAILURE_CLASS_UNSPECIFIED when none was given.
v1::FailureClass failure_of(const absl::Status& status);

}  // namespace assay::profiler
