#include "kernels/tree_attention/operator.h"

#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/cpu_variants.h"
#include "kernels/tree_attention/problem.h"
#include "kernels/tree_attention/workloads.h"

namespace assay::kernels::tree_attention {

#if ASSAY_HAS_CUDA
// In cuda_variants.cu.
extern const CudaTables kCudaTables;
constexpr const CudaTables* kCuda = &kCudaTables;
#else
constexpr const CudaTables* kCuda = nullptr;
#endif

// A worst share above this is not explained by the rounding of weights and output.
constexpr double kAlarm = 0.7;

const Operator& tree_attention() {
  static const Operator definition = {
      .name = "tree_attention",
      .summary = "attention of drafted rows over committed keys and their paths, on tensor cores",
      .axes = axes(),
      .validate = &validate,
      .make_problem = &make_problem,
      .cpu_variants = cpu_variants(),
      .cpu_mutants = cpu_mutants(),
      .cuda = kCuda,
      .workloads = named_workloads(),
      .suites = suites(),
      .invariances = invariances(),
      .bits_domain = kArchitecture,
      .tolerance_alarm = kAlarm,
  };
  return definition;
}

}  // namespace assay::kernels::tree_attention
