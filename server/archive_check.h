// What an archive may bring in: experiments that a daemon would have taken, with times that a run
// can have. Pure. INVALID_ARGUMENT or RESOURCE_EXHAUSTED names the field.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <cstddef>

namespace assay::server {

// Of a request, and the suffix that the store gives to one of two experiments.
inline constexpr std::size_t kMaxArchivedRequestIdBytes = 128 + 17;

// Without its configurations, which come in entries of their own.
absl::Status check_archived(const v1::Experiment& experiment);

absl::Status check_archived(const v1::Configuration& configuration);

}  // namespace assay::server
