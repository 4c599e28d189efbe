// The tensors of one workload: their shapes, the bytes of x, the reference.
#pragma once

#include "kernels/calibration/contract.h"

#include "absl/status/status.h"

#include <memory>

namespace assay::kernels::calibration {

absl::Status validate(const Workload& workload);

// Requires validate() to be OK.
std::unique_ptr<Problem> make_problem(const Workload& workload);

}  // namespace assay::kernels::calibration
