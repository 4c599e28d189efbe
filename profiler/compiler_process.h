// The child that compiles, seen from the runner: this program once more, in the mode --compile.
// It dies with the thread that started it.
#pragma once

#include "profiler/frames.h"
#include "profiler/source_limits.h"
#include "proto/compiler.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace assay::profiler {

class CompilerProcess {
 public:
  // `program` is run with --compile. FAILED_PRECONDITION: it has no compiler or no sandbox.
  static absl::StatusOr<std::unique_ptr<CompilerProcess>> start(
      const std::string& program, const v1::CompilerSettings& settings, CompileLimits limits);

  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;
  // Kills it.
  ~CompilerProcess();

  // Of NVRTC, "13.0".
  const std::string& version() const { return version_; }

  // The reply, whatever its code. DEADLINE_EXCEEDED: out of its time. RESOURCE_EXHAUSTED: out of
  // its memory. INTERNAL: it died otherwise. After an error it answers nothing more.
  absl::StatusOr<v1::CompileReply> compile(v1::CompileRequest request);

 private:
  CompilerProcess(pid_t pid, int to_child, int from_child, CompileLimits limits)
      : pid_(pid),
        to_child_(to_child),
        from_child_(from_child),
        reader_(from_child),
        limits_(limits) {}

  absl::Status greet(const v1::CompilerSettings& settings);
  // How it ended, once its end of a pipe did.
  absl::Status explain_end(const absl::Status& broken);

  pid_t pid_;
  int to_child_;
  int from_child_;
  FrameReader reader_;
  CompileLimits limits_;
  std::string version_;
};

}  // namespace assay::profiler
