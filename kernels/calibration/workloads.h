// Workloads with names, the check suites and the invariances.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::kernels::calibration {

std::span<const NamedWorkload> named_workloads();
std::span<const CaseSuite> suites();
std::span<const Invariance> invariances();

}  // namespace assay::kernels::calibration
