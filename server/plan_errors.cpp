#include "server/plan_errors.h"

#include "server/lookup.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {

absl::Status refuse(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

absl::Status not_found(const std::string& path,
                       const std::string& what,
                       const std::string& name,
                       std::vector<std::string> valid) {
  return absl::NotFoundError(
      absl::StrCat(path, ": no ", what, " `", name, "`; it is ", one_of(std::move(valid))));
}

}  // namespace assay::server
