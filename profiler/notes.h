// What a reader must know beside a verdict: clocks that differ, blocks and records that were lost,
// first samples that are cold.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::profiler {

// To append to a reason: empty, or each note after "; ".
std::string notes_of(const v1::Configuration& configuration);

}  // namespace assay::profiler
