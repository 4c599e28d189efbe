#pragma once

#include "kernels/operator.h"

namespace assay::kernels::calibration {

const Operator& calibration();

}  // namespace assay::kernels::calibration
