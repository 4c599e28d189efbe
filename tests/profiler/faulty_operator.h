// A tiny operator for tests of the device half: out = 2 * x + y over n elements, with the
// intermediate `product` = 2 * x, and one variant for every way to go wrong.
#pragma once

#include "kernels/operator.h"

namespace assay::profiler {

// Variants: plain (baseline), twin (the same bits by other code), partial, overrun, in_place,
// restless (other bits every call), scratchy (reads scratch), peeking (adds 0 times
// what nobody writes), past_end (adds 0 times what lies behind its input), drifting, far (drifts
// beyond the tolerance), other_family, refusing, unavailable, printing, lazy_when_timed (writes
// nothing from the fourth call on), meddling_when_timed (changes its input from the fourth call
// on), by_size (its bits follow n), brief (leaves the intermediate unwritten), brief_half (says it
// leaves all).
const kernels::Operator& faulty_operator();

// Calls of the counting variants so far; set to 0 before each test.
void reset_faulty_operator();

}  // namespace assay::profiler
