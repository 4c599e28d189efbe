// The merge kernels.
#include "kernels/tree_attention/cuda_kernels.cuh"
#include "kernels/tree_attention/cuda_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

namespace {

template <int kBatch>
const void* merge_kernel_of(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(tree_attention_merge_kernel<kBatch, 128>)
                    : reinterpret_cast<const void*>(tree_attention_merge_kernel<kBatch, 256>);
}

}  // namespace

const void* merge_kernel(std::int32_t dim, std::int32_t batch) {
  switch (batch) {
    case 1:
      return merge_kernel_of<1>(dim);
    case 2:
      return merge_kernel_of<2>(dim);
    case 4:
      return merge_kernel_of<4>(dim);
    case 8:
      return merge_kernel_of<8>(dim);
    case 16:
      return merge_kernel_of<16>(dim);
    default:
      return nullptr;
  }
}

}  // namespace assay::kernels::tree_attention
