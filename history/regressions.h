// Regressions of a series: changes to a slower level, from the run that showed them to the run that
// is back. Pure: the caller stores the states and passes them in with the series as it is now.
//
// DETECTED -> CONFIRMED, REFUTED or UNCONFIRMABLE by a run of the same code again; a person may
// acknowledge what is not refuted or fixed; a later level back at the old one fixes it. A detected
// regression that later runs take back is refuted; states of which there is other evidence stay.
#pragma once

#include "history/change_points.h"
#include "history/events.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::history {

// A change that moved by no more than this many runs is the same one.
inline constexpr std::size_t kSamePlace = 5;
// How many deviations of a run, or of the median of several, count as noise of a level.
inline constexpr double kNoisesOfLevel = 2;

enum class RegressionState : std::uint8_t {
  kDetected,
  kConfirmed,
  kRefuted,
  kUnconfirmable,
  kAcknowledged,
  kFixed,
};

struct Regression {
  std::int64_t experiment_id = 0;  // the first run at the new level, as the series places it now
  std::string code_digest;         // of that run
  double old_level_ns = 0;
  double new_level_ns = 0;
  std::uint32_t num_old_runs = 0;  // that old_level_ns is the median of
  double ratio = 1;                // new / old, as in ChangePoint
  double ratio_low = 1;
  double ratio_high = 1;
  double coverage = 0;
  RegressionState state = RegressionState::kDetected;
  std::string reason;           // of the state, one sentence, as it was when the state was reached
  std::string acknowledgement;  // a person's reason; empty: none
  std::int64_t fixed_experiment_id = 0;  // the first run of the level that is back; 0: none
};

// find_changes over the runs that were not rejected; every index is one of `series`.
absl::StatusOr<Changes> find_changes(std::span<const SeriesPoint> series,
                                     const ChangeOptions& options = {});

// The stored ones first, in their order, then those that are new. `changes` are those of `series`.
std::vector<Regression> update(std::span<const Regression> stored,
                               std::span<const SeriesPoint> series,
                               const Changes& changes);

// What runs of the same code again say about a detected or unconfirmable regression; `again` holds
// one or more, of which the median counts. FAILED_PRECONDITION names another state.
absl::StatusOr<Regression> confirm(Regression regression,
                                   const Changes& changes,
                                   std::span<const SeriesPoint> again);

// INVALID_ARGUMENT without a reason, FAILED_PRECONDITION where nothing is left to acknowledge.
absl::StatusOr<Regression> acknowledge(Regression regression, std::string_view reason);

// "detected", "confirmed", "refuted", "unconfirmable", "acknowledged", "fixed".
std::string_view name_of(RegressionState state);

}  // namespace assay::history
