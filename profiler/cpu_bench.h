// Ceilings of the cpu device, by the steady clock, on the threads that cpu kernels share.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <vector>

namespace assay::profiler {

// Reads and copies `num_bytes` (a multiple of 64 for each thread's share), the best of several
// passes each.
std::vector<v1::Ceiling> bench_cpu(std::int64_t num_bytes);

}  // namespace assay::profiler
