// Experiments on kernels that people bring as source: their operator beside those of the device's
// runner, and their data on its way to the runner.
#pragma once

#include "db/store.h"
#include "proto/runner.pb.h"
#include "server/configuration_run.h"
#include "server/plan.h"
#include "server/runner_process.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::server {

inline constexpr std::size_t kMaxSourceSpecBytes = std::size_t{12} << 20;
inline constexpr std::size_t kMaxSourceDataBytes = std::size_t{1} << 30;  // of all its tensors
inline constexpr std::size_t kBlobPieceBytes = std::size_t{32} << 20;

// The description with the operator of spec.source_digest; as it is where there is none.
// FAILED_PRECONDITION: the device compiles no source. NOT_FOUND: the source, or data that it names,
// was not uploaded. INVALID_ARGUMENT: it is no valid source, or not that of spec.operator_name.
absl::StatusOr<Description> with_source(const Description& description,
                                        const v1::ExperimentSpec& spec,
                                        const db::Store& store);

// Digests of what an experiment refers to: its source and that source's data, each once. Empty: it
// is on a built-in operator, or the source is not here.
absl::StatusOr<std::vector<std::string>> blobs_of(const v1::ExperimentSpec& spec,
                                                  const db::Store& store);

// Gives a runner the source that an experiment is about before it is asked about it. One thread
// uses it.
class SourceFeed {
 public:
  explicit SourceFeed(const db::Store& store) : store_(store) {}

  // The same call, which first sends data and definition where `runner`, a number of its own for
  // every process, does not know them yet. What goes wrong there is the call's own answer. Arms
  // that the source's restrictions forbid are refused here. `call` itself where the experiment is
  // about no source.
  RunnerCall feeding(const v1::ExperimentSpec& spec, std::uint64_t runner, RunnerCall call);

 private:
  absl::StatusOr<v1::RunnerReply> ask(const std::string& digest,
                                      std::uint64_t runner,
                                      const RunnerCall& call,
                                      v1::RunnerRequest request,
                                      std::chrono::nanoseconds timeout,
                                      const RunnerProcess::Progress& progress);
  absl::Status load(const std::string& digest);

  const db::Store& store_;
  v1::SourceSpec source_;
  std::string loaded_;   // the digest of source_
  std::string defined_;  // the digest that `runner_` knows
  std::uint64_t runner_ = 0;
};

}  // namespace assay::server
