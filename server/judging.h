// Stored experiments judged again: by the rule as it is now, from the samples that were kept.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::server {

// INVALID_ARGUMENT: least_effect. FAILED_PRECONDITION: it still runs or waits, or is of a kind
// without a verdict in time. The noise floor is the one that is stored now, else the one that the
// newest verdict rests on.
absl::StatusOr<v1::JudgeResponse> judge_again(db::Store& store,
                                              const v1::JudgeRequest& request,
                                              std::int64_t now_ns);

}  // namespace assay::server
