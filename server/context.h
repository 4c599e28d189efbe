// What a request says about the code that it measures.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"

namespace assay::server {

// INVALID_ARGUMENT names the field of spec.context that is past its limit or has a NUL.
absl::Status check_context(const v1::Context& context);

}  // namespace assay::server
