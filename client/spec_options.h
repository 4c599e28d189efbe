// The options of measure, compare, calibrate, check and device bench, and the request they make.
#pragma once

#include "client/connection.h"
#include "client/context_options.h"
#include "client/exit_status.h"
#include "proto/assay.pb.h"

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::client {

struct SpecOptions {
  std::string operator_name;
  std::string source;                   // a specification on disk, instead of an operator
  std::string source_digest;            // once it is uploaded
  std::string baseline;                 // empty: the operator's first variant
  std::vector<std::string> candidates;  // none: the baseline, as a control
  std::vector<std::string> axes;
  std::vector<std::string> workloads;
  std::string device;  // empty: the first CUDA device, else the first available one
  std::string schedule = "bab";
  std::string cache;
  std::string launch_mode;  // empty: stream
  std::string timing;       // empty: the device's own
  std::vector<std::string> counters;
  std::string admission;
  std::uint32_t num_calls = 0;
  std::uint32_t max_rounds = 0;
  std::string least_effect;
  std::string interval_width;
  std::string budget;
  std::string deadline;
  std::uint64_t seed = 0;
  std::string suite = "all";
  ContextOptions context;
  std::string sweep_budget;  // SWEEP: a duration or a number of configurations
  std::string strategy;
  std::string objective;
  std::string drop_above;
  std::string request_id;  // empty: a random one
  std::vector<std::string> fail_on;
  bool detach = false;
};

// Each adds its options to a command; `options` must live until the command has run.
void add_request_options(CLI::App& command, SpecOptions& options);
void add_common_options(CLI::App& command, SpecOptions& options, bool needs_operator = true);
void add_timing_options(CLI::App& command, SpecOptions& options);
void add_source_option(CLI::App& command, SpecOptions& options);
void add_measure_options(CLI::App& command, SpecOptions& options);
void add_sweep_options(CLI::App& command, SpecOptions& options);
void add_compare_options(CLI::App& command, SpecOptions& options);
void add_check_options(CLI::App& command, SpecOptions& options);

// `device`, or where it is left out the one that the daemon's devices suggest.
absl::StatusOr<std::string> device_or_default(Connection& connection, const std::string& device);

// INVALID_ARGUMENT for what was typed wrong; asks the daemon only for what was left out. A checkout
// is looked for in `checkout_folder`; empty: nowhere.
absl::StatusOr<v1::SubmitRequest> make_request(v1::ExperimentKind kind,
                                               const SpecOptions& options,
                                               Connection& connection,
                                               const std::string& checkout_folder);

}  // namespace assay::client
