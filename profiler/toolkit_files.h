// Where the source compiler and its headers lie on this host: found, never assumed.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace assay::profiler {

struct ToolkitFiles {
  std::string library;                       // NVRTC, 13 before 12
  std::vector<std::string> include_folders;  // of the same toolkit where it has them; may be empty
};

// Looks beside the program, in LD_LIBRARY_PATH, in toolkits and in the system's folders; loads
// nothing. FAILED_PRECONDITION when there is no NVRTC.
absl::StatusOr<ToolkitFiles> find_toolkit_files();

}  // namespace assay::profiler
