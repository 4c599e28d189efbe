#include "profiler/subject.h"

namespace assay::profiler {

absl::StatusOr<kernels::Workload> CatalogueSubject::complete(const v1::Workload& given) const {
  return complete_workload(op_, given);
}

absl::StatusOr<std::unique_ptr<kernels::Problem>> CatalogueSubject::make_problem(
    const kernels::Workload& workload) const {
  return op_.make_problem(workload);
}

absl::Status CatalogueSubject::validate(const kernels::Workload& workload, const v1::Arm& arm) {
  return plan(workload, arm).status();
}

absl::StatusOr<ArmPlan> CatalogueSubject::plan(const kernels::Workload& /*workload*/,
                                               const v1::Arm& arm) {
  return device_.plan(op_, arm);
}

}  // namespace assay::profiler
