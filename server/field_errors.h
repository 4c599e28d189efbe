// What is wrong with a field of a request, named by its path.
#pragma once

#include "absl/status/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

// INVALID_ARGUMENT: `path: why`.
absl::Status refuse(std::string_view path, std::string_view why);

// NOT_FOUND: there is no `what` of that name; lists the valid ones.
absl::Status not_found(const std::string& path,
                       const std::string& what,
                       const std::string& name,
                       std::vector<std::string> valid);

}  // namespace assay::server
