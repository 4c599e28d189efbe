// Accepting measured bits: what of an experiment may become golden, and a new epoch of it.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"
#include "server/goldens.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::server {

// Limits stated in proto/assay.proto.
inline constexpr std::size_t kMaxReasonBytes = 1'000;
inline constexpr int kMaxFigures = 32;
inline constexpr std::size_t kMaxFigureBytes = 200;

// The reason and the figures; needs no experiment.
absl::Status check_accept(const v1::AcceptBitsRequest& request);

// The digests of a DONE experiment whose arm passed its own checks: a golden that differs is no
// failure here, nor is being another family than the baseline when within tolerance. Only those of
// `variant` unless it is empty. FAILED_PRECONDITION: nothing passed, or two digests for one key.
absl::StatusOr<std::vector<v1::Golden>> acceptable_bits(const v1::Experiment& experiment,
                                                        const v1::OperatorInfo& info,
                                                        const std::string& variant);

// One epoch of those that differ from what is in force; none differs: no epoch.
absl::StatusOr<v1::AcceptBitsResponse> accept_bits(const v1::AcceptBitsRequest& request,
                                                   const v1::Experiment& experiment,
                                                   const v1::OperatorInfo& info,
                                                   const Goldens& goldens,
                                                   db::Store& store,
                                                   std::int64_t now_ns);

}  // namespace assay::server
