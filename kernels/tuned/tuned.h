// The operators' own use of a table that `assay tuning export --format header` wrote: what `auto`
// stands for in their CUDA launch parameters on devices of compute capability 9.0. Speed, never
// bits. Another table is another h200.h, which is named here only.
#pragma once

#include "kernels/operator.h"
#include "kernels/tuned/h200.h"

#include <string_view>

namespace assay::kernels {

// The variant's entry for this workload or, if there is none, for the nearest by
// assay_tuned::find(). Null: use defaults. The workload has every axis in the operator's order.
const assay_tuned::Entry* find_tuned(std::string_view operator_name,
                                     std::string_view variant,
                                     const Workload& workload);

}  // namespace assay::kernels
