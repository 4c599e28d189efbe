#include "kernels/attention/cpu_avx2.h"

#include "kernels/attention/cpu_select.h"

#ifdef ASSAY_ATTENTION_AVX2

namespace assay::kernels::attention::avx2 {

AttendKernel attend_kernel(Family family, EngineMutation mutation) {
  return KernelTable<Vector>::attend(family, mutation);
}

MergeKernel merge_kernel(EngineMutation mutation) {
  return KernelTable<Vector>::merge(mutation);
}

StepKernel step_kernel() {
  return &KernelTable<Vector>::step;
}

}  // namespace assay::kernels::attention::avx2

#else

namespace assay::kernels::attention::avx2 {

AttendKernel attend_kernel(Family /*family*/, EngineMutation /*mutation*/) {
  return nullptr;
}

MergeKernel merge_kernel(EngineMutation /*mutation*/) {
  return nullptr;
}

StepKernel step_kernel() {
  return nullptr;
}

}  // namespace assay::kernels::attention::avx2

#endif
