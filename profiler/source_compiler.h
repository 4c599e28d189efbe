// CUDA C++ source to machine code. The compiler runs in a child that can read the toolkit's headers
// and nothing else, and is killed at its limits; it lives on until the first failure that is not
// the source's. Results are kept by what they were made from. Errors carry the failure class
// COMPILE and are harmless to this process. Use it from one thread, that of the compiles before.
#pragma once

#include "profiler/compiler_process.h"
#include "profiler/source_limits.h"
#include "profiler/toolkit_files.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

// One source with what it may include by name. Options and defines are a user's and are checked.
struct CompileJob {
  std::vector<v1::SourceFile> files;
  std::string source;                // which of the files is compiled
  std::vector<std::string> defines;  // "NAME" or "NAME=TEXT"
  std::vector<std::string> options;  // as compile_option() takes them
  std::vector<std::string> names;    // of the kernels that are wanted, as "scale<float, 4>"
  std::string architecture;          // "sm_90"
};

struct CompiledSource {
  std::vector<std::byte> cubin;
  std::vector<std::string> symbols;  // of the names, in their order
  std::string log;                   // warnings; scrubbed, may be empty
  std::string identity;  // digest of all that it was made from: the job, and the compiler's version
  std::string compiler;  // "NVRTC 13.0"
};

class SourceCompiler {
 public:
  struct Settings {
    std::string program = "/proc/self/exe";  // run with --compile
    CompileLimits limits = {};
    bool allow_unsandboxed = false;
  };

  explicit SourceCompiler(Settings settings) : settings_(std::move(settings)) {}

  SourceCompiler(const SourceCompiler&) = delete;
  SourceCompiler& operator=(const SourceCompiler&) = delete;
  ~SourceCompiler() = default;

  // Why nothing can be compiled here; OK: it likely can. Looks for the library and the sandbox and
  // starts nothing.
  static absl::Status availability(bool allow_unsandboxed);

  // INVALID_ARGUMENT: what the job says, or the source, whose log is in the message. NOT_FOUND
  // lists the kernels that there are. DEADLINE_EXCEEDED and RESOURCE_EXHAUSTED: a limit, which is
  // named. FAILED_PRECONDITION: no compiler, or no sandbox.
  absl::StatusOr<std::shared_ptr<const CompiledSource>> compile(const CompileJob& job);

  std::size_t num_kept() const { return kept_.size(); }

 private:
  absl::Status ready_process();
  absl::StatusOr<std::shared_ptr<const CompiledSource>> compile_checked(const CompileJob& job);
  absl::StatusOr<CompiledSource> run(const CompileJob& job, const v1::CompileRequest& request);
  std::shared_ptr<const CompiledSource> find_kept(const std::string& identity);
  void keep(std::shared_ptr<const CompiledSource> compiled);

  Settings settings_;
  std::optional<ToolkitFiles> files_;
  std::unique_ptr<CompilerProcess> process_;
  std::string version_;
  std::list<std::shared_ptr<const CompiledSource>> kept_;  // most recently used first
};

}  // namespace assay::profiler
