// What the commands that submit experiments share.
#pragma once

#include "client/session.h"
#include "client/spec_options.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::client {

// Submits, follows to the end unless --detach, prints, and gives the exit status.
absl::StatusOr<int> submit(Session& session, v1::ExperimentKind kind, const SpecOptions& options);

// Follows to the end; Ctrl-C leaves it running.
absl::StatusOr<int> follow_and_print(Session& session,
                                     std::int64_t experiment_id,
                                     const FailOn& fail_on);

}  // namespace assay::client
