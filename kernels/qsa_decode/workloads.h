// Workloads with names, and the check suites.
#pragma once

#include "kernels/operator.h"

#include <span>

namespace assay::kernels::qsa_decode {

std::span<const NamedWorkload> named_workloads();
std::span<const CaseSuite> suites();

}  // namespace assay::kernels::qsa_decode
