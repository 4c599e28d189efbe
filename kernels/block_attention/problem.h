// The tensors of one workload: their shapes, the bytes of the inputs, what is live, the reference.
#pragma once

#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/plan.h"

#include "absl/status/status.h"

#include <memory>

namespace assay::kernels::block_attention {

// What make_problem() makes.
class PlannedProblem : public BlockProblem {
 public:
  virtual const BlockPlan& plan() const = 0;
};

absl::Status validate(const Workload& workload);

// Requires validate() to be OK.
std::unique_ptr<Problem> make_problem(const Workload& workload);

}  // namespace assay::kernels::block_attention
