// The staged kernels with the hardware exponential.
#include "kernels/tree_attention/cuda_kernels.cuh"
#include "kernels/tree_attention/cuda_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

const void* hw_exp_kernel(std::int32_t dim) {
  using Exp = attention::HardwareExp;
  return dim == 128 ? reinterpret_cast<const void*>(tree_attention_staged_kernel<Exp, 128>)
                    : reinterpret_cast<const void*>(tree_attention_staged_kernel<Exp, 256>);
}

}  // namespace assay::kernels::tree_attention
