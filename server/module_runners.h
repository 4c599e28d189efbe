// The runners of one device: its own, which has the built-in operators, and one for each module of
// the daemon's folder (docs/modules.md). At most one is alive: the next starts once the one before
// is known to be dead. A module whose runner fails is in quarantine until its file changes or the
// daemon ends; the device's own runner is replaced as ever. One thread uses it; kill() and close()
// may come from any.
#pragma once

#include "profiler/module_file.h"
#include "proto/runner.pb.h"
#include "server/device_runner.h"
#include "server/plan.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::server {

class ModuleRunners {
 public:
  // `arguments` start the device's own runner; `files` are as list_module_files() gives them.
  ModuleRunners(const std::vector<std::string>& arguments,
                std::chrono::nanoseconds start_timeout,
                const std::vector<std::string>& files);

  // Makes sure that the runner of `module` (empty: the device's own) is there and alive, and that
  // everything is described. Loads modules that were not looked at before, or were replaced since.
  // As DeviceRunner::ensure(); FAILED_PRECONDITION: why the module cannot be used; NOT_FOUND.
  absl::Status ensure(const std::string& module);

  // As DeviceRunner's, of the runner that ensure() chose last.
  absl::StatusOr<v1::RunnerReply> call(v1::RunnerRequest request,
                                       std::chrono::nanoseconds timeout,
                                       const RunnerProcess::Progress& progress);
  absl::Status discard(const std::string& failure);
  absl::Status stop();
  void kill();
  void close();

  // Puts the module of the runner that ensure() chose last into quarantine; the device's own runner
  // is in none.
  void quarantine(const std::string& why);

  // The device and all operators as their runners said, and the modules; without the name.
  Description description() const;

  // Of the runner that ensure() chose last.
  std::uint32_t pid() const { return current_->hello().pid(); }

  // Of all runners; making room for another is no restart.
  std::uint32_t num_restarts() const;

  const std::string& last_failure() const { return last_failure_; }

 private:
  struct Module {
    std::string name;  // the file's, where it is not plain
    std::string path;
    profiler::FileStamp stamp;
    bool is_known = false;  // was looked at as the file is now
    std::string refused;    // why it cannot be used; empty: it can
    std::vector<v1::OperatorInfo> operators;
    std::unique_ptr<DeviceRunner> runner;
  };

  absl::Status start(DeviceRunner& runner, Module* module);
  absl::Status start_own();
  absl::Status start_module(Module& module);
  void look_at(Module& module);

  DeviceRunner own_;
  std::vector<Module> modules_;  // as many as there are files
  DeviceRunner* current_;
  Module* current_module_ = nullptr;  // null: the device's own
  Description own_description_;
  std::string last_failure_;
};

}  // namespace assay::server
