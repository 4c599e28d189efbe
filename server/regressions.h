// Regressions of series: looked for again when a point came in, confirmed by a re-run of the same
// code, acknowledged by people. The rules are history/regressions.h; here they are applied to the
// store. Of one caller at a time.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::server {

// Reads the series as it is now and stores where it changes, its new regressions and what became of
// the others. INVALID_ARGUMENT: it has points that no rule can read.
absl::Status look_again(db::Store& store, std::int64_t series_id, std::int64_t now_ns);

// Leaves a series as it was looked at last until its next point comes in.
absl::Status pass_over(db::Store& store, std::int64_t series_id);

// What measures the arm of a regression again, as its first slow experiment did, on the device that
// is now called `device`. NOT_FOUND or FAILED_PRECONDITION: that experiment is no longer whole.
absl::StatusOr<v1::SubmitRequest> confirmation_of(const db::Store& store,
                                                  const v1::Regression& regression,
                                                  const std::string& device);

// Decides by the re-run, which has ended. Its state and reason are set, nothing is stored.
absl::Status decide(const db::Store& store,
                    const v1::Experiment& rerun,
                    std::int64_t now_ns,
                    v1::Regression& regression);

// It cannot be confirmed, and why.
void give_up(const std::string& why, std::int64_t now_ns, v1::Regression& regression);

// INVALID_ARGUMENT without a reason, NOT_FOUND, FAILED_PRECONDITION: nothing is left to
// acknowledge.
absl::StatusOr<v1::Regression> acknowledge(db::Store& store,
                                           const v1::AcknowledgeRequest& request,
                                           std::int64_t now_ns);

}  // namespace assay::server
