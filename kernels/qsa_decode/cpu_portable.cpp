#include "kernels/qsa_decode/cpu_portable.h"

#include "kernels/qsa_decode/cpu_select.h"

namespace assay::kernels::qsa_decode::portable {

ChunkKernel chunk_kernel(const KernelChoice& choice) {
  return KernelTable<Vector>::chunk(choice);
}

MergeKernel merge_kernel(const MergeChoice& choice) {
  return KernelTable<Vector>::merge(choice);
}

}  // namespace assay::kernels::qsa_decode::portable
