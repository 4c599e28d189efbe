// How many configurations a tuning specification on disk allows.
#pragma once

#include "client/table.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace assay::client {

struct SpecCount {
  std::string text;                   // what each restriction removes, in one of the four forms
  std::vector<std::string> warnings;  // one line each
};

// Of a T1 file, or of `variant` (empty: the first) of our JSON with all axes at their default. The
// files that a T1 file names are not opened. Errors begin with "--spec: PATH"; NOT_FOUND lists the
// variants.
absl::StatusOr<SpecCount> count_spec(const std::string& path,
                                     const std::string& variant,
                                     Format format);

}  // namespace assay::client
