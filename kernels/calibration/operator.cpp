#include "kernels/calibration/operator.h"

#include "kernels/calibration/contract.h"
#include "kernels/calibration/cpu_variants.h"
#include "kernels/calibration/problem.h"
#include "kernels/calibration/workloads.h"

namespace assay::kernels::calibration {

#if ASSAY_HAS_CUDA
// In cuda_variants.cu.
extern const CudaTables kCudaTables;
constexpr const CudaTables* kCuda = &kCudaTables;
#else
constexpr const CudaTables* kCuda = nullptr;
#endif

const Operator& calibration() {
  static const Operator definition = {
      .name = "calibration",
      .summary = "kernels of known length, to measure the workbench itself with",
      .axes = axes(),
      .validate = &validate,
      .make_problem = &make_problem,
      .cpu_variants = cpu_variants(),
      .cpu_mutants = cpu_mutants(),
      .cuda = kCuda,
      .workloads = named_workloads(),
      .suites = suites(),
      .invariances = invariances(),
  };
  return definition;
}

}  // namespace assay::kernels::calibration
