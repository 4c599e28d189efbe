// The thread of one device: asks its runner what it is, then carries out one experiment after the
// other. Whatever a runner does wrong is stored as the outcome of its configuration, and the next
// configuration runs on a new runner.
#pragma once

#include "db/store.h"
#include "proto/config.pb.h"
#include "server/board.h"
#include "server/configuration_run.h"
#include "server/goldens.h"
#include "server/module_runners.h"
#include "server/plan.h"
#include "server/source.h"
#include "server/sweep.h"

#include "absl/status/status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::server {

class DeviceWorker {
 public:
  struct Services {
    db::Store* store = nullptr;
    const Goldens* goldens = nullptr;
    Board* board = nullptr;
    std::function<std::int64_t()> now_ns;
    std::function<void()> on_idle;  // after each of its jobs
  };

  // `modules` are the files of the daemon's folder.
  // How its runners are started.
  struct RunnerSetup {
    std::string runner;                // where the device names none
    std::vector<std::string> flags;    // of every runner
    std::vector<std::string> modules;  // files of the module folder
  };

  DeviceWorker(const v1::DeviceConfig& config, const RunnerSetup& setup, Services services);
  DeviceWorker(const DeviceWorker&) = delete;
  DeviceWorker& operator=(const DeviceWorker&) = delete;

  ~DeviceWorker() { join(); }

  const std::string& device() const { return device_; }

  void start();

  // Returns once the board is closed and the runner dead.
  void join();

  // Kills the runner; the configuration in work ends as cancelled. From any thread.
  void kill_runner() { runner_.kill(); }

  void close_runner() { runner_.close(); }

 private:
  void work();
  // The runner of a module; of the built-in operators where it is empty.
  absl::Status prepare_runner(const std::string& module);
  absl::Status show_ceilings();
  void execute(std::int64_t experiment_id);

  // Runs the configurations; the state and message that the experiment ends with.
  std::pair<v1::TaskState, std::string> carry_out(std::int64_t experiment_id);
  absl::StatusOr<std::string> run_all(std::int64_t experiment_id, const Plan& plan);

  // From where it stood. Between two configurations whatever else is queued goes first.
  absl::StatusOr<std::string> sweep(const v1::Experiment& experiment, const Plan& plan);
  absl::Status end_race(const v1::Experiment& experiment, Sweep& sweep);

  struct RunFlags {
    bool may_drop = false;
  };

  // As it was stored. A status names the configuration.
  absl::StatusOr<v1::Configuration> run_one(std::int64_t experiment_id,
                                            const Plan& plan,
                                            v1::Configuration configuration,
                                            const RunFlags& flags);
  absl::StatusOr<v1::Configuration> try_one(std::int64_t experiment_id,
                                            const Plan& plan,
                                            v1::Configuration configuration,
                                            const RunFlags& flags);
  absl::StatusOr<Plan> plan_of(const v1::Experiment& experiment);

  const std::string device_;
  const Services services_;
  ModuleRunners runner_;
  Description description_;
  SourceFeed sources_;
  std::thread thread_;
};

}  // namespace assay::server
