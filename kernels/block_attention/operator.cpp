#include "kernels/block_attention/operator.h"

#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/cpu_variants.h"
#include "kernels/block_attention/problem.h"
#include "kernels/block_attention/workloads.h"

namespace assay::kernels::block_attention {

#if ASSAY_HAS_CUDA
// In cuda_variants.cu.
extern const CudaTables kCudaTables;
constexpr const CudaTables* kCuda = &kCudaTables;
#else
constexpr const CudaTables* kCuda = nullptr;
#endif

// A worst share above this is not explained by the rounding of weights and output.
constexpr double kAlarm = 0.7;

const Operator& block_attention() {
  static const Operator definition = {
      .name = "block_attention",
      .summary = "attention of a drafter's block over a windowed context, on tensor cores",
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

}  // namespace assay::kernels::block_attention
