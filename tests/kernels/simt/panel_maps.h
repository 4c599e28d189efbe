// Tensor maps of K and V for the SIMT machine, as kernels/attention/cuda_panel_maps.cuh makes them.
// To be included behind ASSAY_SIMT and ASSAY_SIMT_WARPGROUP.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"

#include <cstdint>

namespace assay::kernels::attention {

// Both tensors have `num_elements`.
inline PanelMaps panel_maps_of(const std::uint16_t* k,
                               const std::uint16_t* v,
                               std::int64_t num_elements,
                               std::int64_t row_elements) {
  const auto map = [&](const std::uint16_t* tensor, int box_rows) {
    return TensorMap{tensor, num_elements, row_elements, box_rows};
  };
  return {.k = map(k, kSliceKeys),
          .v = map(v, kSliceKeys),
          .k_rows = map(k, kBoxRows),
          .v_rows = map(v, kBoxRows)};
}

}  // namespace assay::kernels::attention
