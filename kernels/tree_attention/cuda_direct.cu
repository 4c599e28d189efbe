// The direct kernels.
#include "kernels/tree_attention/cuda_kernels.cuh"
#include "kernels/tree_attention/cuda_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

const void* direct_kernel(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(tree_attention_direct_kernel<128>)
                    : reinterpret_cast<const void*>(tree_attention_direct_kernel<256>);
}

const void* direct_merge_kernel(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(tree_attention_direct_merge_kernel<128>)
                    : reinterpret_cast<const void*>(tree_attention_direct_merge_kernel<256>);
}

}  // namespace assay::kernels::tree_attention
