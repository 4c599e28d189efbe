// One configuration on one runner, step by step: open, time at the looks, close, judge; or one item
// of a check. What the runner does wrong is the configuration's outcome, never an error of ours.
#pragma once

#include "db/store.h"
#include "proto/runner.pb.h"
#include "server/goldens.h"
#include "server/plan.h"

#include "absl/status/statusor.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace assay::server {

// What a configuration needs of its runner; RunnerProcess::call behind it.
using RunnerCall = std::function<absl::StatusOr<v1::RunnerReply>(
    v1::RunnerRequest request,
    std::chrono::nanoseconds timeout,
    const std::function<void(const v1::RunnerProgress&)>& progress)>;

struct RunContext {
  std::int64_t experiment_id = 0;
  const v1::Device* device = nullptr;
  const db::Store* store = nullptr;
  const Goldens* goldens = nullptr;
  std::function<std::int64_t()> now_ns;  // wall clock, stored with a verdict
  std::function<void(double)> progress;  // of this configuration, 0 to 1
  bool may_drop = false;                 // of a sweep, against an incumbent
};

struct ConfigurationRun {
  v1::Configuration configuration;
  bool runner_is_sound = true;                // else it must be replaced
  bool cancelled = false;                     // killed on request: nothing of it is to be stored
  std::optional<v1::NoiseFloor> noise_floor;  // that a CALIBRATE found
};

// `configuration` has number, workload and arms, or what is checked. The status is of the store
// alone.
absl::StatusOr<ConfigurationRun> run_configuration(const Plan& plan,
                                                   v1::Configuration configuration,
                                                   const RunnerCall& call,
                                                   const RunContext& context);

}  // namespace assay::server
