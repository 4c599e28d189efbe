#include "profiler/module_file.h"
#include "profiler/other_inputs.h"
#include "profiler/session.h"
#include "profiler/tensor.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <vector>

namespace assay::profiler {

// Kernels of the catalogue are known to save nothing.
absl::Status Session::follow_inputs(std::uint64_t number,
                                    v1::Measurement& baseline,
                                    v1::Measurement* candidate) {
  if (module_of_operator(subject_.name()).empty()) {
    return absl::OkStatus();
  }
  kernels::Workload workload = workload_;
  workload.seed += number;
  const auto completed = subject_.complete(workload_message(workload, ""));
  if (!completed.ok()) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<kernels::Problem> other,
                         subject_.make_problem(*completed));
  std::vector<FollowingArm> arms;
  for (std::size_t role = 0; role < arms_.size(); ++role) {
    if (arms_[role].has_value()) {
      arms.push_back({.plan = &arms_[role]->plan,
                      .checked = &arms_[role]->checked,
                      .measurement = role == 0 ? &baseline : candidate});
    }
  }
  return check_other_inputs(state_.device, state_.workspace, *other, arms);
}

void Session::judge_streams(const Arm& arm, v1::Measurement& measurement) {
  if (arm.num_elsewhere > 0 && measurement.bits().failed() == v1::BITS_CHECK_UNSPECIFIED) {
    v1::BitsReport& bits = *measurement.mutable_bits();
    bits.set_failed(v1::BITS_TIMED_LAUNCH);
    bits.set_detail(
        absl::StrCat("work outside the given stream: ",
                     with_commas(arm.num_elsewhere),
                     " kernels of its timed calls ran on another one, where nobody times them"));
  }
}

}  // namespace assay::profiler
