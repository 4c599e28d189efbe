#pragma once

#include "kernels/operator.h"

namespace assay::kernels::qsa_decode {

const Operator& qsa_decode();

}  // namespace assay::kernels::qsa_decode
