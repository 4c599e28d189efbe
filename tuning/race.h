// A sweep of one workload as a race: every configuration is judged against the best so far, the
// incumbent, in one run. The first that may rank becomes the incumbent; another replaces it only
// with the verdict FASTER, which lies beyond the noise. Whoever was there first stays: that is how
// ties are broken. Pure: the same configurations in the same order give the same race.
#pragma once

#include "proto/assay.pb.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

// How Configuration.stopped_because begins when a configuration was not worth more rounds.
inline constexpr std::string_view kDropReason = "dropped: ";

enum class Standing : std::uint8_t {
  kWinner,
  kTied,     // its interval reaches into the noise around the winner
  kBehind,   // slower than the winner beyond the noise
  kDropped,  // slower than its incumbent in every one of the first rounds
  kUnclear,  // without an interval for another reason
  kFailed,   // has a failure class
};

struct RaceEntry {
  std::uint32_t configuration = 0;  // as in Configuration
  v1::Arm arm;
  Standing standing = Standing::kUnclear;
  v1::FailureClass failure = v1::FAILURE_CLASS_UNSPECIFIED;
  std::string message;  // of a failure or a drop
  std::int64_t median_ns = 0;
  // To the winner. Where others were incumbents in between, their intervals are added.
  double ratio = 0;  // an estimate from medians where has_interval is false; 0: none
  bool has_interval = false;
  double ratio_low = 0;
  double ratio_high = 0;
};

struct RaceResult {
  std::vector<RaceEntry> entries;     // in the order of the race
  std::optional<std::size_t> winner;  // nullopt: nothing may rank
  v1::Arm baseline_arm;               // what the race began with
  // The winner to baseline_arm; has_interval as in RaceEntry.
  double ratio = 1;
  bool has_interval = false;
  double ratio_low = 1;
  double ratio_high = 1;
  // What a configuration had to be faster than the winner by: the largest bar of those that tied.
  double noise = 0;
  std::uint32_t num_failed = 0;
};

class Race {
 public:
  void add(const v1::Configuration& configuration);

  // Null until one may rank.
  const v1::Arm* incumbent() const;

  // Whether the last configuration is it.
  bool is_last_incumbent() const;

  // What the last configuration costs, in nanoseconds as if all had run beside one incumbent;
  // nullopt: it failed.
  std::optional<double> last_cost() const;

  RaceResult result() const;

 private:
  // Logarithms of candidate / incumbent.
  struct Step {
    double middle = 0;
    double low = 0;
    double high = 0;
    bool has_interval = false;
  };

  struct Contestant {
    RaceEntry entry;
    Step step;         // against `against`
    int against = -1;  // place in chain_, -1: the arm that the race began with
    double bar = 0;
    double cost = 0;  // 0: none
  };

  Step step_to_winner(std::size_t place) const;
  double noise_of(const RaceResult& result) const;

  v1::Arm baseline_arm_;
  std::vector<Contestant> contestants_;
  std::vector<std::size_t> chain_;  // the incumbents, places in contestants_
};

// "winner", "tied", "behind", "dropped", "unclear", "failed".
std::string_view name_of(Standing standing);

// Why a FINISHED configuration or any other does not rank; unspecified: it does.
v1::FailureClass failure_of(const v1::Configuration& configuration);

}  // namespace assay::tuning
