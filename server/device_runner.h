// The runner of one device: started when needed, kept warm until its first failure, then replaced,
// the old one known dead before. One thread uses it (see RunnerProcess about that thread); kill()
// and close() may come from any.
#pragma once

#include "proto/runner.pb.h"
#include "server/runner_process.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace assay::server {

class DeviceRunner {
 public:
  DeviceRunner(std::vector<std::string> arguments, std::chrono::nanoseconds start_timeout)
      : arguments_(std::move(arguments)), start_timeout_(start_timeout) {}

  // Makes sure that a runner is there and alive. UNAVAILABLE: the old one does not die. CANCELLED:
  // killed or closed meanwhile. Else why the new one did not start.
  absl::Status ensure();

  // As RunnerProcess::call; requires ensure() to be OK. CANCELLED too once it is closed.
  absl::StatusOr<v1::RunnerReply> call(v1::RunnerRequest request,
                                       std::chrono::nanoseconds timeout,
                                       const RunnerProcess::Progress& progress);

  const v1::RunnerHello& hello() const { return process_->hello(); }

  // Ends the runner after a failure, described for people.
  absl::Status discard(const std::string& failure);

  // As stop(), to make room for another; a later ensure() is then no restart.
  absl::Status make_room();

  // Lets an idle runner end by itself, and ends it.
  absl::Status stop();

  void kill();

  // Starts none again. Kills one that is at work; an idle one is left to stop().
  void close();

  std::uint32_t num_restarts() const { return num_restarts_; }

  const std::string& last_failure() const { return last_failure_; }

 private:
  absl::Status end();
  void rest();

  const std::vector<std::string> arguments_;
  const std::chrono::nanoseconds start_timeout_;
  std::mutex mutex_;  // process_ as a pointer, closed_ and is_at_work_
  std::unique_ptr<RunnerProcess> process_;
  bool closed_ = false;
  bool is_at_work_ = false;  // greets or answers
  bool started_once_ = false;
  bool failed_ = false;
  std::uint32_t num_restarts_ = 0;
  std::string last_failure_;
};

}  // namespace assay::server
