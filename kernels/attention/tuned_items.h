// What a table of sweeps has for the warpgroup form on one workload. Speed, never bits.
#pragma once

#include "kernels/operator.h"

#include <cstdint>
#include <string_view>

namespace assay::kernels::attention {

// 0: the rule decides.
struct TunedItems {
  std::int32_t pairs = 0;   // of a block
  std::int32_t stages = 0;  // of 32 KiB

  bool operator==(const TunedItems&) const = default;
};

// The rule decides where the nearest workload has other heads or `rows_axis`: blocks are cut to
// them.
TunedItems tuned_items(std::string_view operator_name,
                       std::string_view rows_axis,
                       const Workload& workload);

}  // namespace assay::kernels::attention
