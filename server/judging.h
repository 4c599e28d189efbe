// What a judgement needs besides the samples, and stored experiments judged again: by the rule as
// it is now, from the samples that were kept.
#pragma once

#include "db/store.h"
#include "profiler/verdict.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::server {

// As the experiment asked, defaults filled in.
profiler::JudgeOptions options_of(const v1::ExperimentSpec& spec);

// Adds the noise floor that is stored for the configuration's key, and why it is stale beside
// samples of `sampled_ns`. A CALIBRATE takes none.
absl::Status add_noise_floor(const db::Store& store,
                             const v1::Device& device,
                             const v1::ExperimentSpec& spec,
                             const v1::Configuration& configuration,
                             std::int64_t sampled_ns,
                             profiler::JudgeOptions& options);

// INVALID_ARGUMENT: least_effect. FAILED_PRECONDITION: it still runs or waits, or is of a kind
// without a verdict in time. The noise floor is the one that is stored now, else the one that the
// newest verdict rests on.
absl::StatusOr<v1::JudgeResponse> judge_again(db::Store& store,
                                              const v1::JudgeRequest& request,
                                              std::int64_t now_ns);

}  // namespace assay::server
