// What `auto` stands for in the launch parameters of two_cell and lane_cell. Speed, never bits.
#pragma once

#include "kernels/operator.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

// How a chunk's cells are shared out: each form is tuned by itself.
enum class TunedForm : std::uint8_t { kTwoCell, kLaneCell };

// By default what serves every workload.
struct TunedLaunch {
  std::int32_t cells_per_step = 2;
  std::int32_t merge_batch = 16;
  std::int32_t merge_blocks = 1;
  bool prefetch = false;

  bool operator==(const TunedLaunch&) const = default;
};

// The table's values, each with its default where the table has none.
TunedLaunch tuned_launch(TunedForm form, const Workload& workload);

}  // namespace assay::kernels::qsa_decode
