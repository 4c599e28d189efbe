#include "client/moment.h"

#include "client/duration.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include <string>

namespace assay::client {

absl::StatusOr<std::int64_t> parse_moment(std::string_view text, std::int64_t now_ns) {
  std::string_view ago = text;
  if (ago.ends_with(" ago")) {
    ago.remove_suffix(4);
  }
  if (const auto duration_ns = parse_duration(ago); duration_ns.ok() && *duration_ns < now_ns) {
    return now_ns - *duration_ns;
  }
  absl::Time time;
  const std::string whole(text);
  if (absl::ParseTime("%Y-%m-%d", whole, absl::UTCTimeZone(), &time, nullptr) ||
      absl::ParseTime(absl::RFC3339_full, whole, &time, nullptr)) {
    if (const std::int64_t moment_ns = absl::ToUnixNanos(time);
        moment_ns > 0 && absl::FromUnixNanos(moment_ns) == time) {
      return moment_ns;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "moment `",
      whole,
      "`: expected a date, RFC 3339 or how long ago (at most 3660d), as in 2026-01-31, "
      "2026-01-31T12:00:00Z, 2h or 3d; after 1970-01-01, before 2262-04-11"));
}

}  // namespace assay::client
