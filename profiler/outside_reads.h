// Reads outside of tensors: which guard bands the outputs of an arm follow, and how far.
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"
#include "profiler/digest.h"
#include "profiler/workspace.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

struct OutsideRead {
  std::string tensor;
  Side side = Side::kPastEnd;
  std::int64_t num_elements = 0;  // from the tensor to the farthest that outputs follow
  bool is_whole_band = false;     // then it may read farther
};

struct OutsideReads {
  std::vector<OutsideRead> reads;  // in tensor order
  HostOutputs outputs;             // of a call that shows the first; empty: it gave up
};

// Calls the arm on kFirstPoison again and again, one band as in calls on `other` and the rest as on
// the first. `expected` are the digests without such a band, which the arm repeats. The returned
// error is the device's.
absl::StatusOr<OutsideReads> find_outside_reads(Device& device,
                                                Workspace& workspace,
                                                const kernels::Problem& problem,
                                                const ArmPlan& arm,
                                                const std::vector<Digest>& expected,
                                                std::byte other);

// "reads 12 elements past the end of `x` and at least 1,024 elements before the start of `y`"
std::string describe(std::span<const OutsideRead> reads);

}  // namespace assay::profiler
