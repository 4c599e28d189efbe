// Points in time as people type them.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <string_view>

namespace assay::client {

// "2026-01-31" (its beginning in UTC), "2026-01-31T12:00:00Z" (RFC 3339), or how long ago: "2h",
// "3d ago". In nanoseconds since the Unix epoch, above 0. INVALID_ARGUMENT shows the forms.
absl::StatusOr<std::int64_t> parse_moment(std::string_view text, std::int64_t now_ns);

}  // namespace assay::client
