// The calls of an arm that were kept kernel by kernel, as slices of a timeline.
#pragma once

#include "client/trace_lanes.h"
#include "proto/assay.pb.h"

#include <vector>

namespace assay::client {

// A call from the first start to the last end of its kernels, in it its stages, in them their
// kernels. Times are since `origin_ns` of the runner's steady clock.
std::vector<Slice> call_slices(const v1::Measurement& measurement, std::int64_t origin_ns);

}  // namespace assay::client
