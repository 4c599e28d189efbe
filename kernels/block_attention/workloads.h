// Workloads with names, the check suites and the invariances.
#pragma once

#include "kernels/operator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels::block_attention {

std::span<const NamedWorkload> named_workloads();
std::span<const CaseSuite> suites();
std::span<const Invariance> invariances();

// `given` is valid by construction; defaults fill the rest.
Workload complete_workload(std::vector<Setting> given, std::uint64_t seed);

}  // namespace assay::kernels::block_attention
