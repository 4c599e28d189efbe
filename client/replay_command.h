// The part of `assay sweep` that measures nothing: a strategy over what a file holds.
#pragma once

#include "client/session.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace assay::client {

struct ReplayOptions {
  std::string file;       // any format of recorded_file.h
  std::string strategy;   // empty: genetic
  std::string objective;  // median, mean or time; empty: median
  std::string budget;     // a number of configurations; empty: up to 400
  std::uint64_t seed = 0;
  std::uint32_t num_repeats = 32;
};

// Prints the winner, what ties with it, failures, and how soon the strategy finds it, beside
// random.
absl::StatusOr<int> replay_file(Session& session, const ReplayOptions& options);

}  // namespace assay::client
