// Tensor maps of K and V for the warpgroup form: encoded on the host, which needs no device for it.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

namespace assay::kernels::attention {

// The driver's function, asked for at run time so that nothing links the driver.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const PFN_cuTensorMapEncodeTiled_v12000 encoder = [] {
    constexpr unsigned kVersion = 12'000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    if (cudaGetDriverEntryPointByVersion(
            "cuTensorMapEncodeTiled", &function, kVersion, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
      static_cast<void>(cudaGetLastError());
      function = nullptr;
    }
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  return encoder;
}

// Element e of row r is element 8 u + r * row_elements + e of the tensor: a start need not be a
// whole number of rows from another. The extent of rows bounds nothing: who copies knows what is
// there.
inline cudaError_t make_panel_map(const void* tensor,
                                  std::int64_t num_elements,
                                  std::int64_t row_elements,
                                  int box_rows,
                                  TensorMap* map) {
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 31;
  const PFN_cuTensorMapEncodeTiled_v12000 encode = tensor_map_encoder();
  if (encode == nullptr) {
    return cudaErrorNotSupported;
  }
  const cuuint64_t extents[] = {
      kPanelColumns,
      static_cast<cuuint64_t>(std::max<std::int64_t>(num_elements / 8, 1)),
      kMostRows};
  const cuuint64_t strides[] = {16, static_cast<cuuint64_t>(row_elements) * 2};
  const cuuint32_t box[] = {kPanelColumns, 1, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result = encode(map,
                                 CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                 3,
                                 const_cast<void*>(tensor),
                                 extents,
                                 strides,
                                 box,
                                 steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Both tensors have `num_elements`; a null one has none that is read. Maps of small boxes only when
// `has_pieces`: a masked source reads them.
inline cudaError_t make_panel_maps(const void* k,
                                   const void* v,
                                   std::int64_t num_elements,
                                   std::int64_t row_elements,
                                   bool has_pieces,
                                   PanelMaps* maps) {
  if (k == nullptr || v == nullptr) {
    return cudaSuccess;
  }
  const auto make = [&](int box_rows, TensorMap* k_map, TensorMap* v_map) {
    const cudaError_t error = make_panel_map(k, num_elements, row_elements, box_rows, k_map);
    return error != cudaSuccess ? error
                                : make_panel_map(v, num_elements, row_elements, box_rows, v_map);
  };
  const cudaError_t error = make(kSliceKeys, &maps->k, &maps->v);
  return error != cudaSuccess || !has_pieces ? error : make(kBoxRows, &maps->k_rows, &maps->v_rows);
}

}  // namespace assay::kernels::attention
