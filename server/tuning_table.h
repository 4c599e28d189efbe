// Tuning tables: what sweeps found best, by workload, and which of it may still be used.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"
#include "server/plan.h"
#include "server/sweep.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::server {

// The canonical text of a workload without its seed: launch parameters depend on shapes.
std::string bucket_of(const v1::Workload& workload);

// What a race found; nullopt: nothing ranked. Experiment and date are left to the caller.
std::optional<v1::Tuning> tuning_of(const Sweep::Ended& ended,
                                    const v1::ExperimentSpec& spec,
                                    const v1::Device& device);

// "the driver was 580.1, it is 590.2"; empty: the entry may be used. `code_digest`: of the newest
// measurement of its arm, empty where there is none.
std::string why_stale(const v1::Tuning& tuning,
                      const v1::Device& device,
                      const std::string& code_digest);

// Sets why an entry is stale on the device it came from, where that is among `devices`.
absl::Status mark_stale(const db::Store& store,
                        const v1::ListDevicesResponse& devices,
                        v1::Tuning& tuning);

// The entry of each workload that a sweep begins with.
absl::StatusOr<std::vector<std::optional<v1::Arm>>> stored_winners(const db::Store& store,
                                                                   const Plan& plan,
                                                                   const v1::Device& device);

// An exact entry first; else the nearest one whose axes are the same but for integers that are at
// most a factor of two apart. An entry that is stale says why, and comes only where no fresh one
// does. NOT_FOUND and INVALID_ARGUMENT name the operator and the axes.
absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(const db::Store& store,
                                                       const Description& description,
                                                       const v1::LookupTuningRequest& request);

}  // namespace assay::server
