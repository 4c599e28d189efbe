#include "profiler/session.h"

#include "profiler/admission.h"
#include "profiler/failure_class.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

// At the end inputs of this many sets are looked at again.
constexpr std::size_t kMostSetsAgain = 4;
// What the seeds of other inputs are beside the workload's, before and after the timed calls.
constexpr std::uint64_t kInputsBefore = 1;
constexpr std::uint64_t kInputsAfter = 2;

// The device is as it was.
bool is_harmless(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsFailedPrecondition(status);
}

bool has_failed(const v1::Measurement& measurement) {
  return measurement.bits().failed() != v1::BITS_CHECK_UNSPECIFIED;
}

// The same machine code, launched alike with the same parameters.
bool is_identical(const v1::Measurement& a, const v1::Measurement& b) {
  const auto parameters = [](const v1::Arm& arm) {
    return proto::text_of(arm).substr(arm.variant().size());
  };
  const auto launched_alike = [](const v1::KernelResources& one, const v1::KernelResources& other) {
    return one.num_blocks() == other.num_blocks() && one.num_threads() == other.num_threads() &&
           one.dynamic_shared_bytes() == other.dynamic_shared_bytes();
  };
  return a.code_digest() == b.code_digest() && parameters(a.arm()) == parameters(b.arm()) &&
         std::ranges::equal(a.resources(), b.resources(), launched_alike);
}

}  // namespace

Session::~Session() {
  for (std::optional<Arm>& arm : arms_) {
    arm.reset();
  }
  state_.workspace.drop_copies();
}

absl::StatusOr<v1::RunnerOpened> Session::open(const v1::RunnerOpen& request) {
  experiment_id_ = request.experiment_id();
  if (absl::Status status = plan_arms(request); !status.ok()) {
    return refused(status);
  }
  if (absl::Status status = state_.workspace.load(*problem_); !status.ok()) {
    return absl::IsResourceExhausted(status) ? refused(with_failure(status, v1::RESOURCES))
                                             : status;
  }
  ASSAY_RETURN_IF_ERROR(subject_.prepare_references(
      workload_, *problem_, key_, state_.references, state_.device, state_.workspace));

  v1::RunnerOpened opened;
  ArmChecker checker(state_.device,
                     state_.workspace,
                     state_.references,
                     *problem_,
                     key_,
                     subject_.tolerance_alarm());
  v1::Measurement& baseline = *opened.mutable_baseline();
  ASSAY_RETURN_IF_ERROR(checker.check(arms_[0]->plan, nullptr, baseline, arms_[0]->checked));
  bool is_sound = baseline.bits().failed() == v1::BITS_CHECK_UNSPECIFIED;
  // Nothing is compared with a baseline that failed by itself.
  if (arms_[1].has_value() && is_sound) {
    v1::Measurement& candidate = *opened.mutable_candidate();
    ASSAY_RETURN_IF_ERROR(
        checker.check(arms_[1]->plan, &arms_[0]->checked, candidate, arms_[1]->checked));
    is_sound = candidate.bits().failed() == v1::BITS_CHECK_UNSPECIFIED;
  }
  if (is_sound) {
    ASSAY_RETURN_IF_ERROR(follow_inputs(
        kInputsBefore, baseline, arms_[1].has_value() ? opened.mutable_candidate() : nullptr));
    is_sound = !has_failed(baseline) && !has_failed(opened.candidate());
  }
  if (is_sound) {
    if (absl::Status status = choose_sets(request); !status.ok()) {
      return is_harmless(status) ? refused(status) : status;
    }
  }
  for (std::size_t role = 0; role < arms_.size(); ++role) {
    if (arms_[role].has_value()) {
      v1::Measurement& measurement =
          role == 0 ? *opened.mutable_baseline() : *opened.mutable_candidate();
      ASSAY_RETURN_IF_ERROR(describe_arm(*arms_[role], measurement));
    }
  }
  if (arms_[1].has_value()) {
    opened.set_identical_code(is_identical(opened.baseline(), opened.candidate()));
  }
  if (!is_sound) {
    return opened;
  }

  ASSAY_RETURN_IF_ERROR(state_.device.prepare_timing());
  std::int64_t slowest_ns = 0;
  for (std::size_t role = 0; role < arms_.size(); ++role) {
    if (!arms_[role].has_value()) {
      continue;
    }
    if (launch_mode_ == v1::GRAPH) {
      if (absl::Status status = capture(*arms_[role], request.num_calls()); !status.ok()) {
        return is_harmless(status) ? refused(status) : status;
      }
    }
    const std::int64_t admission_ns =
        request.admission_ns() > 0 ? request.admission_ns() : kDefaultAdmissionNs;
    if (absl::Status status = warm_up(*arms_[role], admission_ns); !status.ok()) {
      return is_harmless(status) ? refused(status) : status;
    }
    slowest_ns = std::max(slowest_ns, arms_[role]->call_ns);
    v1::Measurement& measurement =
        role == 0 ? *opened.mutable_baseline() : *opened.mutable_candidate();
    measurement.set_warm_up(arms_[role]->warm_up);
    judge_streams(*arms_[role], measurement);
    *measurement.mutable_admission() = arms_[role]->admission;
    if (cache_mode_ == v1::COLD) {
      ASSAY_ASSIGN_OR_RETURN(const std::int64_t floor_ns,
                             state_.device.floor_ns(problem_->min_bytes()));
      measurement.set_floor_ns(floor_ns);
    }
  }
  for (std::optional<Arm>& arm : arms_) {
    if (arm.has_value() && launch_mode_ == v1::STREAM) {
      arm->num_calls = calls_a_block(request.num_calls(), slowest_ns);
    }
  }
  is_open_ = !has_failed(opened.baseline()) && !has_failed(opened.candidate());
  return opened;
}

absl::Status Session::check_timed_outputs(const Arm& arm, v1::Measurement& measurement) {
  judge_streams(arm, measurement);
  if (!arm.was_timed || has_failed(measurement)) {
    return absl::OkStatus();
  }
  const std::span<const ComparedTensor> compared = state_.workspace.compared();
  const std::vector<Digest> digests = digests_of(compared, arm.plan, arm.timed);
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (digests[place] != arm.checked.digests[place]) {
      measurement.mutable_bits()->set_failed(v1::BITS_TIMED_LAUNCH);
      measurement.mutable_bits()->set_detail(absl::StrCat("a timed call left `",
                                                          compared[place].layout.name,
                                                          "` with digest ",
                                                          digests[place].to_hex(),
                                                          ", the checked one with ",
                                                          arm.checked.digests[place].to_hex()));
      break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::RunnerClosed> Session::close(const v1::RunnerClose& request) {
  v1::RunnerClosed closed;
  closed.mutable_baseline();
  if (!is_open_) {
    return closed;
  }
  is_open_ = false;
  for (std::size_t role = 0; role < arms_.size(); ++role) {
    if (!arms_[role].has_value()) {
      continue;
    }
    v1::Measurement& measurement =
        role == 0 ? *closed.mutable_baseline() : *closed.mutable_candidate();
    ASSAY_RETURN_IF_ERROR(check_timed_outputs(*arms_[role], measurement));
    if (arms_[role]->was_timed) {
      ASSAY_RETURN_IF_ERROR(time_again(*arms_[role], measurement));
    }
  }

  // Counted calls are the last ones, and what they change is looked at like what timed ones do.
  for (std::size_t role = 0; role < arms_.size(); ++role) {
    if (arms_[role].has_value()) {
      ASSAY_RETURN_IF_ERROR(
          count(*arms_[role],
                request,
                role == 0 ? *closed.mutable_baseline() : *closed.mutable_candidate()));
    }
  }

  // Which arm's timed calls changed something is not known: the newer code is asked to explain.
  v1::Measurement& last =
      arms_[1].has_value() ? *closed.mutable_candidate() : *closed.mutable_baseline();
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, state_.workspace.find_overrun());
  std::string changed;
  for (std::size_t set = 0; set < std::min(state_.workspace.sets().size(), kMostSetsAgain); ++set) {
    if (changed.empty()) {
      ASSAY_ASSIGN_OR_RETURN(changed, state_.workspace.find_changed_input(set));
    }
  }
  if (!overrun.empty() || !changed.empty()) {
    state_.workspace.forget();
    last.mutable_bits()->set_failed(overrun.empty() ? v1::BITS_INPUTS : v1::BITS_WRITTEN);
    last.mutable_bits()->set_detail(
        overrun.empty() ? absl::StrCat("input `", changed, "` was changed by the timed calls")
                        : absl::StrCat("written ", overrun, " by the timed calls"));
  }
  // What began to save its outputs while it was timed.
  if (!has_failed(closed.baseline()) && !has_failed(closed.candidate())) {
    ASSAY_RETURN_IF_ERROR(
        follow_inputs(kInputsAfter,
                      *closed.mutable_baseline(),
                      arms_[1].has_value() ? closed.mutable_candidate() : nullptr));
  }
  state_.workspace.drop_copies();
  return closed;
}

}  // namespace assay::profiler
