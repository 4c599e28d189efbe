// What a configuration asks of its runner, request by request, within the deadline of each.
#pragma once

#include "proto/runner.pb.h"
#include "server/configuration_run.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <string>

namespace assay::server {

// Shares of a configuration's progress: checks and warm-up, then the rounds, then the close.
inline constexpr double kOpenShare = 0.2;
inline constexpr double kTimeShare = 0.75;

class RunnerDialogue {
 public:
  // All of them outlive this; a failure is written into `run`.
  RunnerDialogue(const v1::ExperimentSpec& spec,
                 const RunnerCall& call,
                 const RunContext& context,
                 ConfigurationRun& run)
      : spec_(spec), call_(call), context_(context), run_(run) {}

  // Sends one request; a failure becomes the outcome and a status that ends the configuration.
  absl::StatusOr<v1::RunnerReply> ask(const v1::RunnerRequest& request,
                                      v1::RunnerReply::ReplyCase expected,
                                      double progress_from,
                                      double progress_share);

  // Ends the configuration with this outcome.
  absl::Status fail(v1::Outcome outcome, const std::string& message);

  bool failed() const { return failed_; }

  // The log of a source's compile; empty: there was none.
  const std::string& compiler_log() const { return compiler_log_; }

  // Of one request.
  std::chrono::nanoseconds deadline() const;

 private:
  const v1::ExperimentSpec& spec_;
  const RunnerCall& call_;
  const RunContext& context_;
  ConfigurationRun& run_;
  bool failed_ = false;
  std::string compiler_log_;
};

}  // namespace assay::server
