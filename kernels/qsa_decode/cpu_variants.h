// The cpu rows of the catalogue. Defaults of `threads` and `isa` are those of this host, found
// once, the same for every row.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::kernels::qsa_decode {

std::span<const CpuVariant> cpu_variants();
std::span<const CpuMutant> cpu_mutants();

}  // namespace assay::kernels::qsa_decode
