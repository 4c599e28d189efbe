#pragma once

#include "kernels/operator.h"

namespace assay::kernels::tree_attention {

const Operator& tree_attention();

}  // namespace assay::kernels::tree_attention
