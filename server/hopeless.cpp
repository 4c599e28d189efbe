#include "server/hopeless.h"

#include "profiler/rounds.h"
#include "tuning/race.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::server {

std::string why_hopeless(const v1::Configuration& configuration, double drop_above) {
  const std::vector<profiler::PairedRound> rounds =
      profiler::pair_rounds(profiler::arm_times(configuration.baseline(), "total"),
                            profiler::arm_times(configuration.candidate(), "total"));
  const double bar = std::log1p(drop_above);
  const bool is_slow_everywhere =
      rounds.size() >= kDropLooks.front() &&
      std::ranges::all_of(rounds, [bar](const auto& round) { return round.d > bar; });
  if (!is_slow_everywhere) {
    return "";
  }
  return absl::StrCat(std::string(tuning::kDropReason),
                      absl::StrFormat("at least %g %% slower than the incumbent in each of %d "
                                      "rounds",
                                      drop_above * 100,
                                      rounds.size()));
}

}  // namespace assay::server
