// Made-up sweeps for the tests of their reports: two_cell of qsa_decode, held against one_cell.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <string>

namespace assay::client {

// DONE, experiment 7 on cpu, without a configuration.
v1::Experiment made_up_sweep();

// Tries cells_per_step=`cells` on width=`width` against the incumbent. The total is `kind` with a
// ratio of `ratio`, 0.01 to both sides, judged by a bar of 1.3 %.
v1::Configuration& add_try(v1::Experiment& experiment,
                           const std::string& width,
                           const std::string& cells,
                           v1::VerdictKind kind,
                           double ratio);

// The same, dropped after three rounds.
v1::Configuration& add_dropped(v1::Experiment& experiment,
                               const std::string& width,
                               const std::string& cells,
                               double ratio);

// One that failed with this class, however it is told.
v1::Configuration& add_failed(v1::Experiment& experiment,
                              const std::string& width,
                              const std::string& cells,
                              v1::FailureClass failure,
                              const std::string& message);

// A fresh entry of qsa_decode for kv=int8,width=`width`, by a sweep of three.
v1::Tuning made_up_tuning(const std::string& width, const std::string& cells);

}  // namespace assay::client
