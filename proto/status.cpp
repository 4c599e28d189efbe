#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <string>

namespace assay::proto {

absl::Status annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) {
    return status;
  }
  return {status.code(), absl::StrCat(std::string(context), ": ", std::string(status.message()))};
}

}  // namespace assay::proto
