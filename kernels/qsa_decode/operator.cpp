#include "kernels/qsa_decode/operator.h"

#include "kernels/qsa_decode/contract.h"
#include "kernels/qsa_decode/cpu_variants.h"
#include "kernels/qsa_decode/problem.h"
#include "kernels/qsa_decode/workloads.h"

namespace assay::kernels::qsa_decode {

#if ASSAY_HAS_CUDA
// In cuda_variants.cu.
extern const CudaTables kCudaTables;
constexpr const CudaTables* kCuda = &kCudaTables;
#else
constexpr const CudaTables* kCuda = nullptr;
#endif

const Operator& qsa_decode() {
  static const Operator definition = {
      .name = "qsa_decode",
      .summary = "decode attention over selected cells of a paged, quantised KV cache",
      .axes = axes(),
      .validate = &validate,
      .make_problem = &make_problem,
      .cpu_variants = cpu_variants(),
      .cpu_mutants = cpu_mutants(),
      .cuda = kCuda,
      .workloads = named_workloads(),
      .suites = suites(),
  };
  return definition;
}

}  // namespace assay::kernels::qsa_decode
