// The float64 witness: textbook attention of each row over the keys that it sees, which it finds by
// walking the parents itself, from values made anew and not from the call's tables. It shares no
// arithmetic with the kernels. Tolerance of an element: 2^-7 sum(p |v|) / sum(p), and half a bf16
// ulp of the value.
#pragma once

#include "kernels/tree_attention/plan.h"

namespace assay::kernels::tree_attention {

// Values, tolerances and visible keys of [rows, heads, dim].
Reference tree_attention_reference(const Plan& plan);

}  // namespace assay::kernels::tree_attention
