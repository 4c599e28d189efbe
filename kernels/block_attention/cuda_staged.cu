// The kernels of block_attention's variants.
#include "kernels/block_attention/cuda_kernels.cuh"
#include "kernels/block_attention/cuda_stages.cuh"

#include <cstdint>

namespace assay::kernels::block_attention {
namespace {

template <class Exp>
const void* staged_kernel_of(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(block_attention_staged_kernel<Exp, 128>)
                    : reinterpret_cast<const void*>(block_attention_staged_kernel<Exp, 256>);
}

template <int kBatch>
const void* merge_kernel_of(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(block_attention_merge_kernel<kBatch, 128>)
                    : reinterpret_cast<const void*>(block_attention_merge_kernel<kBatch, 256>);
}

}  // namespace

const void* direct_kernel(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(block_attention_direct_kernel<128>)
                    : reinterpret_cast<const void*>(block_attention_direct_kernel<256>);
}

const void* direct_merge_kernel(std::int32_t dim) {
  return dim == 128 ? reinterpret_cast<const void*>(block_attention_direct_merge_kernel<128>)
                    : reinterpret_cast<const void*>(block_attention_direct_merge_kernel<256>);
}

const void* staged_kernel(std::int32_t dim) {
  return staged_kernel_of<attention::PolynomialExp>(dim);
}

const void* hw_exp_kernel(std::int32_t dim) {
  return staged_kernel_of<attention::HardwareExp>(dim);
}

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

}  // namespace assay::kernels::block_attention
