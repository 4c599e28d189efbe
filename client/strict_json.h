// JSON that others wrote, as RFC 8259 has it: no NaN, no comments, nothing behind the end.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

#include <string_view>

namespace assay::client {

// Integers of 64 bits keep their digits. INVALID_ARGUMENT gives line and column, or the name that
// stands twice in one object.
absl::StatusOr<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace assay::client
