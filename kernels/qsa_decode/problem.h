// The tensors of one workload: their shapes, the bytes of the inputs, what is live, the reference.
#pragma once

#include "kernels/qsa_decode/contract.h"

#include "absl/status/status.h"

#include <memory>

namespace assay::kernels::qsa_decode {

absl::Status validate(const Workload& workload);

// Requires validate() to be OK.
std::unique_ptr<Problem> make_problem(const Workload& workload);

}  // namespace assay::kernels::qsa_decode
