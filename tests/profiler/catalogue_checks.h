// What every operator of the catalogue must show on a device, walked by the tests of each backend.
#pragma once

#include "profiler/device.h"

namespace assay::profiler {

// Each mutant is rejected by a check.
void expect_mutants_rejected(Device& device);

// Baseline against the next variant of its family, if any, on a small workload: equal bits, samples
// for every stage (of a graph for the call), and nothing to report on close.
void expect_configuration_carried(Device& device,
                                  v1::CacheMode cache_mode,
                                  v1::LaunchMode launch_mode = v1::STREAM,
                                  v1::TimingSource source = v1::TIMING_SOURCE_UNSPECIFIED);

}  // namespace assay::profiler
