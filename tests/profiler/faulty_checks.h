// The suites and invariances of the faulty operator: one for every way that a check can end.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::profiler {

std::span<const kernels::CaseSuite> faulty_suites();
std::span<const kernels::Invariance> faulty_invariances();

}  // namespace assay::profiler
