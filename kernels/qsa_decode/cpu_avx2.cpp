#include "kernels/qsa_decode/cpu_avx2.h"

#include "kernels/qsa_decode/cpu_select.h"

#ifdef ASSAY_AVX2

namespace assay::kernels::qsa_decode::avx2 {

ChunkKernel chunk_kernel(const KernelChoice& choice) {
  return KernelTable<Vector>::chunk(choice);
}

MergeKernel merge_kernel(const MergeChoice& choice) {
  return KernelTable<Vector>::merge(choice);
}

}  // namespace assay::kernels::qsa_decode::avx2

#else

namespace assay::kernels::qsa_decode::avx2 {

ChunkKernel chunk_kernel(const KernelChoice& /*choice*/) {
  return nullptr;
}

MergeKernel merge_kernel(const MergeChoice& /*choice*/) {
  return nullptr;
}

}  // namespace assay::kernels::qsa_decode::avx2

#endif
