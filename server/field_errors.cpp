#include "server/field_errors.h"

#include "server/lookup.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {

absl::Status refuse(std::string_view path, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(path), ": ", std::string(why)));
}

absl::Status not_found(const std::string& path,
                       const std::string& what,
                       const std::string& name,
                       std::vector<std::string> valid) {
  return absl::NotFoundError(
      absl::StrCat(path, ": no ", what, " `", name, "`; it is ", one_of(std::move(valid))));
}

}  // namespace assay::server
