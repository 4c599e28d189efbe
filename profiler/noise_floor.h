// The noise floor of a device: what an A/A control of identical code differs by. A claim about
// other code has to lie beyond it.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace assay::profiler {

// A floor older than this is called stale.
inline constexpr std::int64_t kFreshNoiseNs = std::int64_t{30} * 24 * 3'600 * 1'000'000'000;

// What floors are stored and found by: device, operator, workload and the modes of the measurement.
v1::NoiseFloor noise_floor_key(const v1::Device& device,
                               const std::string& operator_name,
                               const v1::Configuration& configuration);

// The floor that a finished A/A control gives, under its key, with the device's versions and
// `now_ns`. FAILED_PRECONDITION says why it gives none.
absl::StatusOr<v1::NoiseFloor> noise_floor_of(v1::NoiseFloor key,
                                              const v1::Device& device,
                                              const v1::Verdict& verdict,
                                              std::int64_t now_ns);

// Why a floor may no longer hold on the device as it is now, as "it is 45 days old"; empty: it may.
std::string why_stale(const v1::NoiseFloor& floor, const v1::Device& device, std::int64_t now_ns);

}  // namespace assay::profiler
