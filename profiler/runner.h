// Serves the frames of proto/runner.proto on two descriptors with one device and a catalogue.
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"
#include "profiler/frames.h"
#include "profiler/plant.h"
#include "profiler/session.h"
#include "profiler/source_blobs.h"
#include "profiler/source_compiler.h"
#include "profiler/source_operator.h"
#include "proto/runner.pb.h"

#include "absl/status/status.h"

#include <memory>
#include <span>
#include <string>

namespace assay::profiler {

// What a runner offers; the first frame.
v1::RunnerHello hello_of(Device& device,
                         std::span<const kernels::Operator* const> catalogue,
                         bool allow_unsandboxed = false);

class Runner {
 public:
  // All outlive the runner.
  Runner(Device& device,
         std::span<const kernels::Operator* const> catalogue,
         Plant plant,
         SourceCompiler::Settings compiler = {});
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  // Says hello and answers until the end of input (OK) or the first failure that is no refusal.
  absl::Status serve(int in_fd, int out_fd, const std::string& nonce);

  // One request without frames; progress goes to `out_fd` while it is valid.
  absl::Status answer(const v1::RunnerRequest& request, v1::RunnerReply& reply);

 private:
  // The source that is defined where it has that name; else null.
  SourceOperator* find_source(const std::string& name) const;
  // Of the catalogue.
  absl::StatusOr<const kernels::Operator*> find_operator(const std::string& name) const;
  absl::Status validate(const v1::RunnerValidate& request) const;
  absl::Status open(std::uint64_t sequence, const v1::RunnerOpen& request, v1::RunnerReply& reply);
  absl::Status define(const v1::RunnerDefine& request, v1::RunnerReply& reply);
  absl::Status send_progress(std::uint64_t sequence, double share, const std::string& message);
  absl::Status bench(v1::RunnerReply& reply);
  absl::Status check(std::uint64_t sequence,
                     const v1::RunnerCheck& request,
                     v1::RunnerReply& reply);

  RunnerState state_;
  std::span<const kernels::Operator* const> catalogue_;
  Plant plant_;
  SourceCompiler::Settings compiler_settings_;
  SourceCompiler compiler_;
  SourceBlobs blobs_;  // until the next define
  std::unique_ptr<SourceOperator> source_;
  std::unique_ptr<Session> session_;  // may work on the source
  int out_fd_ = -1;
};

}  // namespace assay::profiler
