#pragma once

#include "kernels/operator.h"

namespace assay::kernels::block_attention {

const Operator& block_attention();

}  // namespace assay::kernels::block_attention
