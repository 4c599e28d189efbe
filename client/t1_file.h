// T1 files, the JSON in which Kernel Tuner and KTT describe a kernel and its tuning parameters.
// Nothing in them is executed: values, restrictions and sizes are expressions of
// tuning/expression.h.
#pragma once

#include "tuning/space.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

struct T1File {
  tuning::SearchSpace space;
  std::vector<std::string> warnings;  // one line each; the file can be used nevertheless
  std::vector<std::int64_t> sizes;    // elements of each of the kernel's arguments; 0: none given
};

// Reads what says which configurations there are, and checks the expressions of the kernel's sizes
// and grid. INVALID_ARGUMENT names the field by its path; fields of ConfigurationSpace that are not
// known are refused, others are left alone. No file that it names is opened.
absl::StatusOr<T1File> parse_t1(std::string_view text);

}  // namespace assay::client
