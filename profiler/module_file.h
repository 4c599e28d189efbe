// Files of a module folder, and whether they may be loaded: what nobody but root and this process's
// user can have put there. Names no device, so that the daemon asks it before any runner does.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// Of a path that ends in NAME.so. INVALID_ARGUMENT: no 1 to 64 letters, digits, '_' and '-'.
absl::StatusOr<std::string> module_name_of(const std::string& path);

// The module of an operator's name, which is MODULE.OPERATOR; empty: it is none of a module.
std::string_view module_of_operator(std::string_view operator_name);

// FAILED_PRECONDITION and INVALID_ARGUMENT say which rule the file or its folder breaks: a plain
// name, a regular file that is no link, owned by root or this user, writable by its owner alone,
// and the folder likewise. NOT_FOUND: it is not there.
absl::Status check_module_file(const std::string& path);

// The paths of the files that end in .so, sorted. NOT_FOUND: the folder cannot be read.
absl::StatusOr<std::vector<std::string>> list_module_files(const std::string& folder);

// Tells one content of a file from another without reading it; all 0 where there is no file.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t num_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // owner and mode too

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path);

}  // namespace assay::profiler
