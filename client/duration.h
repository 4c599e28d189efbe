// What people type for durations and shares.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::client {

// "500ms", "2s", "1.5m", "1h", "3d", "20us", "100ns" in nanoseconds. INVALID_ARGUMENT shows the
// form.
absl::StatusOr<std::int64_t> parse_duration(std::string_view text);

// The same of an option, which errors name; 0 where it was left out.
absl::StatusOr<std::int64_t> parse_duration(const std::string& option, std::string_view text);

// "1%" or "0.01". INVALID_ARGUMENT unless it is a number above 0 and at most 0.5.
absl::StatusOr<double> parse_effect(std::string_view text);

// The same of an option, which errors name; 0 where it was left out.
absl::StatusOr<double> parse_effect(const std::string& option, std::string_view text);

}  // namespace assay::client
