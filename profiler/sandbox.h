// Locks a process in before it compiles what others wrote: it can read a few folders and nothing
// else, write nothing, connect nowhere, start nothing, and has little memory. For processes of one
// thread; there is no way back.
#pragma once

#include "absl/status/status.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace assay::profiler {

// FAILED_PRECONDITION where the kernel has no Landlock. Costs one system call.
absl::Status sandbox_supported();

// Leaves only `folders` readable, with what lies beneath them. FAILED_PRECONDITION as above.
absl::Status lock_in(std::span<const std::string> folders);

// Address space, no files, no core, few descriptors, no further processes or threads.
absl::Status limit_resources(std::int64_t memory_bytes);

// The process is ended by SIGXCPU once it has used that much more processor time.
absl::Status limit_processor_time(std::chrono::seconds more);

}  // namespace assay::profiler
