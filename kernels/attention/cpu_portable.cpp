#include "kernels/attention/cpu_portable.h"

#include "kernels/attention/cpu_select.h"

namespace assay::kernels::attention::portable {

AttendKernel attend_kernel(Family family, EngineMutation mutation) {
  return KernelTable<Vector>::attend(family, mutation);
}

MergeKernel merge_kernel(EngineMutation mutation) {
  return KernelTable<Vector>::merge(mutation);
}

StepKernel step_kernel() {
  return &KernelTable<Vector>::step;
}

}  // namespace assay::kernels::attention::portable
