// How a measurement is made, as people name it. Small letters or not, with - or _; unspecified when
// empty. INVALID_ARGUMENT names the option and lists the names.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

// "hot" or "cold".
absl::StatusOr<v1::CacheMode> parse_cache(const std::string& name);

// "stream" or "graph".
absl::StatusOr<v1::LaunchMode> parse_launch_mode(const std::string& name);

// "activity", "events" and "clock", or as the data model has them: "cuda_events".
absl::StatusOr<v1::TimingSource> parse_timing(const std::string& name);

}  // namespace assay::client
