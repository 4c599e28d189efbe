// What a script learns from the exit status.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::client {

inline constexpr int kFine = 0;
inline constexpr int kNotCarriedOut = 1;  // or failed, or cancelled
inline constexpr int kWrongUsage = 2;
inline constexpr int kRejected = 3;  // or a mutant survived
inline constexpr int kSlower = 4;
inline constexpr int kUndecided = 5;
inline constexpr int kRegressed = 6;

struct FailOn {
  bool slower = false;
  bool undecided = false;
};

// "slower,undecided". INVALID_ARGUMENT lists the valid names.
absl::StatusOr<FailOn> parse_fail_on(const std::vector<std::string>& names);

// What of the open regressions counts.
enum class FailOnRegression : std::uint8_t { kNothing, kConfirmed, kDetected };

// "confirmed", "detected" (any that is open) or empty. INVALID_ARGUMENT lists the valid names.
absl::StatusOr<FailOnRegression> parse_fail_on_regression(const std::string& name);

int exit_status(const v1::ListRegressionsResponse& regressions, FailOnRegression fail_on);

// Of several reasons the lowest status counts.
int exit_status(const v1::Experiment& experiment, const FailOn& fail_on);

// What was typed wrong is kWrongUsage, everything else kNotCarriedOut.
int exit_status(const absl::Status& status);

}  // namespace assay::client
