// What the clocks say beside the times: figures for a reader, and blocks that were not good enough.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::profiler {

// Medians of the SM clocks of each arm's good blocks; 0: unknown.
struct ArmClocks {
  double baseline_mhz = 0;
  double candidate_mhz = 0;

  // By more than kClockShare; false when either is unknown.
  bool differ() const;
};

ArmClocks clocks_of(const v1::Configuration& configuration);

// "clocks differ: A at 1,980 MHz, B at 1,755 MHz"
std::string describe(const ArmClocks& clocks);

// "12 blocks were disqualified (thermal slow-down): seen 900 MHz, wanted 1,980 MHz", or empty. What
// is wanted is the clock of the good blocks where the blocks do not say.
std::string describe_disqualified(const v1::Configuration& configuration);

}  // namespace assay::profiler
