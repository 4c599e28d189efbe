// The races of a SWEEP, which the daemon's receipts share: see tuning/sweep_races.h.
#pragma once

#include "tuning/sweep_races.h"

namespace assay::client {

using tuning::races_of;
using tuning::WorkloadRace;

}  // namespace assay::client
