// What a request line asks for: a path and the pairs of a query, both decoded.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::server {

// In the order of the request; a name may come several times.
using Query = std::vector<std::pair<std::string, std::string>>;

struct HttpTarget {
  std::string path;  // begins with a slash
  Query query;
};

// "/v1/List?state=DONE". INVALID_ARGUMENT: no path, a broken percent sign, a byte 0 or no UTF-8. A
// value keeps every equals sign after the first; a plus is a space in the query and itself in the
// path.
absl::StatusOr<HttpTarget> parse_target(std::string_view target);

}  // namespace assay::server
