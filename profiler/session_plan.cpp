#include "profiler/session.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::profiler {

absl::Status Session::plan_arms(const v1::RunnerOpen& request) {
  launch_mode_ = request.launch_mode() == v1::GRAPH ? v1::GRAPH : v1::STREAM;
  if (launch_mode_ == v1::GRAPH && !state_.device.limits().has_graphs) {
    return absl::FailedPreconditionError(absl::StrCat(
        "launch_mode: the ", state_.device.description().backend(), " device has no graphs"));
  }
  ASSAY_ASSIGN_OR_RETURN(workload_, subject_.complete(request.workload()));
  ASSAY_ASSIGN_OR_RETURN(ArmPlan baseline, subject_.plan(workload_, request.baseline()));
  arms_[0].emplace().plan = std::move(baseline);
  if (request.has_candidate()) {
    ASSAY_ASSIGN_OR_RETURN(ArmPlan candidate, subject_.plan(workload_, request.candidate()));
    arms_[1].emplace().plan = std::move(candidate);
  }
  key_ =
      absl::StrCat(subject_.reference_key(), "/", proto::text_of(workload_message(workload_, "")));
  ASSAY_ASSIGN_OR_RETURN(problem_, subject_.make_problem(workload_));
  return absl::OkStatus();
}

absl::Status Session::choose_sets(const v1::RunnerOpen& request) {
  const DeviceLimits& limits = state_.device.limits();
  cache_mode_ = request.cache_mode() == v1::CACHE_MODE_UNSPECIFIED ? limits.default_cache_mode
                                                                   : request.cache_mode();
  next_set_ = 0;
  sets_ = plan_sets(cache_mode_, problem_->min_bytes(), state_.workspace.set_bytes(), limits);
  ASSAY_RETURN_IF_ERROR(choose_source(request.timing_source()));
  if (launch_mode_ == v1::GRAPH) {
    ASSAY_RETURN_IF_ERROR(calls_of_graph(request.num_calls(), 0).status());
  }
  return sets_.flush ? absl::OkStatus()
                     : state_.workspace.rotate(static_cast<std::size_t>(sets_.num_sets));
}

// What cannot be had is refused: times of another source are other figures.
absl::Status Session::choose_source(v1::TimingSource asked) {
  const DeviceLimits& limits = state_.device.limits();
  source_ = asked;
  if (source_ == v1::TIMING_SOURCE_UNSPECIFIED) {
    source_ = launch_mode_ == v1::STREAM ? limits.timing_source
              : sets_.flush              ? v1::CUPTI_ACTIVITY
                                         : v1::CUDA_EVENTS;
  }
  if (source_ == v1::CUPTI_ACTIVITY && !limits.activity.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("timing_source: kernel times cannot be had (",
                     std::string(limits.activity.message()),
                     "); end the other profiler, or ask for CUDA_EVENTS (--timing events)"));
  }
  if (launch_mode_ == v1::GRAPH || source_ == v1::CUDA_EVENTS) {
    if (const absl::Status status = subject_.timed_by_kernels_only(); !status.ok()) {
      return proto::annotate(status, launch_mode_ == v1::GRAPH ? "launch_mode" : "timing_source");
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::profiler
