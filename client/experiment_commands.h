// What the commands that submit experiments share.
#pragma once

#include "client/session.h"
#include "client/spec_options.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::client {

// Either an operator of the catalogue, or that of a specification, which is then with the daemon
// and named by `options`; its baseline is settled too.
absl::Status settle_operator(Session& session, SpecOptions& options);

// Submits, follows to the end unless --detach, prints, and gives the exit status.
absl::StatusOr<int> submit(Session& session, v1::ExperimentKind kind, const SpecOptions& options);

// Follows to the end; Ctrl-C leaves it running.
absl::StatusOr<int> follow_and_print(Session& session,
                                     std::int64_t experiment_id,
                                     const FailOn& fail_on);

}  // namespace assay::client
