// Files that a command line names.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <string>

namespace assay::client {

// The bytes as they are. NOT_FOUND: no such file; UNAVAILABLE: it cannot be read;
// RESOURCE_EXHAUSTED: larger than max_bytes. Messages do not name the path.
absl::StatusOr<std::string> read_file(const std::string& path, std::size_t max_bytes);

// The same, unpacked where it is a gzip file, whatever its name; max_bytes holds for both forms.
absl::StatusOr<std::string> read_text(const std::string& path, std::size_t max_bytes);

// Writes a new file. ALREADY_EXISTS unless `overwrites`; nothing is left of what fails.
absl::Status write_file(const std::string& path, const std::string& text, bool overwrites);

// What follows the last slash.
std::string base_name(const std::string& path);

}  // namespace assay::client
