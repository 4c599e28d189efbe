// Golden files: a line "# assay goldens 1", then one golden a line as tab-separated operator_name,
// workload, tensor, family, domain and digest (32 hexadecimal digits), sorted, each key once.
// Further lines that begin with '#' are comments.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::proto {

// In the order of their keys. INVALID_ARGUMENT names line and column, as "line 7, column 6
// (digest)".
absl::StatusOr<std::vector<v1::Golden>> parse_goldens(std::string_view text);

// The same goldens give the same bytes, whatever their order. INVALID_ARGUMENT names the golden
// that a file cannot hold.
absl::StatusOr<std::string> format_goldens(std::vector<v1::Golden> goldens);

}  // namespace assay::proto
