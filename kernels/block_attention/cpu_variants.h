// The cpu rows of the catalogue: the tensor-core model of sm_90, whose bits are a device's, and
// plain fp32.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::kernels::block_attention {

std::span<const CpuVariant> cpu_variants();
std::span<const CpuMutant> cpu_mutants();

}  // namespace assay::kernels::block_attention
