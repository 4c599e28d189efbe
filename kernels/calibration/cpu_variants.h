// The cpu rows of the catalogue. The default of `threads` is this host's, found once.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::kernels::calibration {

std::span<const CpuVariant> cpu_variants();
std::span<const CpuMutant> cpu_mutants();

}  // namespace assay::kernels::calibration
