#include "profiler/cuda_device.h"
#include "profiler/cuda_status.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::profiler {

absl::StatusOr<std::vector<v1::KernelCounters>> CudaDevice::count_stage(
    const BlockRequest& request, std::size_t stage, std::span<const std::string> metrics) {
  const StagePlan& plan = request.arm->stages[stage];
  kernels::Trace trace;
  const kernels::Call call = {.problem = request.problem,
                              .tensors = request.sets[request.first_set % request.sets.size()],
                              .parameters = request.arm->parameters,
                              .trace = &trace};
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CountedKernel> kernels, counters_->count(metrics, [&] {
    const absl::Status launched = plan.launch(call);
    return launched.ok() ? wait() : launched;
  }));
  // A launcher may record fewer or more names than it launches kernels; then they name nothing.
  const bool has_names = trace.kernels.size() == kernels.size();
  std::vector<v1::KernelCounters> counted;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    v1::KernelCounters& kernel = counted.emplace_back();
    kernel.set_stage(plan.name);
    kernel.set_kernel(has_names ? trace.kernels[i] : absl::StrCat("kernel ", i + 1));
    kernel.mutable_metrics()->Add(kernels[i].begin(), kernels[i].end());
  }
  return counted;
}

absl::StatusOr<std::vector<v1::KernelCounters>> CudaDevice::count_stages(
    const BlockRequest& request, std::span<const std::string> counters) {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  if (counters_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(counters_, CuptiCounters::open(ordinal_));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> metrics, counters_->select(counters));
  // The flush is a kernel itself and must be over before counting starts.
  if (request.flush) {
    ASSAY_RETURN_IF_ERROR(flush());
  }
  ASSAY_RETURN_IF_ERROR(wait());
  std::vector<v1::KernelCounters> counted;
  for (std::size_t stage = 0; stage < request.arm->stages.size(); ++stage) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::KernelCounters> of_stage,
                           count_stage(request, stage, metrics));
    counted.insert(counted.end(), of_stage.begin(), of_stage.end());
  }
  return counted;
}

absl::StatusOr<std::vector<v1::KernelCounters>> CudaDevice::count(
    const BlockRequest& request, std::span<const std::string> counters) {
  auto counted = count_stages(request, counters);
  // Whatever CUPTI says, only the device's own lasting error means that it is done for.
  static_cast<void>(cudaGetLastError());
  if (const absl::Status sound = wait(); !sound.ok()) {
    return absl::InternalError(absl::StrCat("after counting: ", std::string(sound.message())));
  }
  if (!counted.ok() && !is_uncounted(counted.status())) {
    return absl::UnavailableError(counted.status().message());
  }
  return counted;
}

}  // namespace assay::profiler
