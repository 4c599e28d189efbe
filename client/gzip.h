// Unpacks gzip files; the only place that names zlib.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::client {

bool is_gzip(std::string_view bytes);

// All members of the file. INVALID_ARGUMENT: damaged, or it ends before its end.
// RESOURCE_EXHAUSTED: it unpacks to more than max_bytes.
absl::StatusOr<std::string> gunzip(std::string_view bytes, std::size_t max_bytes);

}  // namespace assay::client
