// The compiler's side of proto/compiler.proto, for a process of its own: it loads NVRTC, locks
// itself in and compiles until the end of input or the first failure that is not the source's.
#pragma once

namespace assay::profiler {

inline constexpr const char* kCompileMode = "--compile";

// Serves on these descriptors, closes all others beyond standard error, and returns the process's
// exit status. Call it first thing in main(), with one thread.
int run_compile_worker(int in_fd, int out_fd);

}  // namespace assay::profiler
