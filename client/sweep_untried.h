// What a sweep that ended did not try.
#pragma once

#include "client/sweep_races.h"
#include "proto/assay.pb.h"

#include <string>
#include <vector>

namespace assay::client {

// How many and why: the running time or the number of configurations that was asked for. Empty
// where all was tried, or so far. How large the space is follows from the axes that were named;
// without any, and for kernels with restrictions of their own, the daemon's table of tunings says
// it.
std::string untried_text(const v1::Experiment& experiment, const std::vector<WorkloadRace>& races);

}  // namespace assay::client
