#include "profiler/session.h"

#include "profiler/admission.h"
#include "profiler/failure_class.h"
#include "profiler/nvtx.h"
#include "profiler/poison.h"
#include "profiler/schedule.h"
#include "profiler/statistics.h"
#include "profiler/warm_up.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::int64_t kUnhurriedBlock_ns = 20'000'000;
constexpr std::uint32_t kEventCalls = 20;
// At the end inputs of this many sets are looked at again.
constexpr std::size_t kMostSetsAgain = 4;
// What the seeds of other inputs are beside the workload's, before and after the timed calls.
constexpr std::uint64_t kInputsBefore = 1;
constexpr std::uint64_t kInputsAfter = 2;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// The device is as it was.
bool is_harmless(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsFailedPrecondition(status);
}

void append(const BlockTimes& times, v1::Measurement& measurement) {
  *measurement.add_blocks() = times.block;
  if (measurement.stages().empty()) {
    measurement.mutable_stages()->Add(times.stages.begin(), times.stages.end());
  } else {
    for (std::size_t stage = 0; stage < times.stages.size(); ++stage) {
      measurement.mutable_stages(static_cast<int>(stage))
          ->mutable_samples_ns()
          ->MergeFrom(times.stages[stage].samples_ns());
    }
  }
  measurement.set_num_invalid_records(measurement.num_invalid_records() +
                                      times.num_invalid_records);
  measurement.set_num_dropped_records(measurement.num_dropped_records() +
                                      times.num_dropped_records);
  if (!times.traced.spans().empty()) {
    v1::TracedBlock& traced = *measurement.add_traced_blocks();
    traced = times.traced;
    traced.set_round(times.block.round());
    traced.set_leg(times.block.leg());
    traced.set_started_ns(times.block.started_ns());
  }
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

absl::Status Session::describe_arm(const Arm& arm, v1::Measurement& measurement) {
  *measurement.mutable_arm() = arm.plan.arm;
  measurement.set_family(arm.plan.family);
  measurement.set_timing_source(source_);
  measurement.set_launch_mode(launch_mode_);
  measurement.set_cache_mode(cache_mode_);
  measurement.set_num_input_sets(static_cast<std::uint32_t>(state_.workspace.sets().size()));
  measurement.set_min_bytes(problem_->min_bytes());
  measurement.set_min_flops(problem_->min_flops());
  for (const auto& [spec, digest] : state_.workspace.inputs()) {
    v1::TensorDigest& input = *measurement.add_inputs();
    input.set_tensor(spec->name);
    input.set_digest(digest.to_hex());
    input.set_dtype(std::string(kernels::name_of(spec->dtype)));
    input.mutable_shape()->Add(spec->shape.begin(), spec->shape.end());
  }
  const kernels::Call call = {.problem = problem_.get(), .parameters = arm.plan.parameters};
  std::vector<v1::KernelResources> resources;
  // What could not be launched cannot be described either.
  const bool is_launchable = measurement.bits().failed() != v1::BITS_FINISHED;
  for (const StagePlan& stage : arm.plan.stages) {
    if (is_launchable && stage.describe != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(resources.emplace_back(), stage.describe(call));
      *measurement.add_resources() = resources.back();
    }
  }
  if (measurement.traced_size() != measurement.resources_size()) {
    // Kernels that are not described may differ.
    for (v1::KernelResources& kernel : resources) {
      kernel.clear_machine_code();
    }
  }
  measurement.set_code_digest(state_.device.code_digest(arm.plan, resources));
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

BlockRequest Session::block_request(const Arm& arm, std::uint32_t num_calls) {
  return {.arm = &arm.plan,
          .problem = problem_.get(),
          .sets = state_.workspace.sets(),
          .first_set = next_set_,
          .num_calls = num_calls,
          .flush = sets_.flush,
          .experiment_id = experiment_id_,
          .label = &arm == &*arms_[0] ? "baseline" : "candidate"};
}

// Then until the clock is steady, under the arm's own load.
absl::Status Session::warm_up(Arm& arm, std::int64_t admission_ns) {
  const DeviceLimits& limits = state_.device.limits();
  const std::int64_t start_ns = now_ns();
  WarmUp warm_up(limits.least_warm_up_ns, limits.most_warm_up_ns, start_ns);
  Admission admission(start_ns + admission_ns);
  while (!warm_up.is_done(now_ns())) {
    ASSAY_ASSIGN_OR_RETURN(const BlockTimes times, time_calls(arm, warm_up.next_calls()));
    warm_up.add(times, now_ns());
    admission.add(times.block);
  }
  const std::int64_t warm_ns = now_ns();
  while (!admission.is_over(now_ns())) {
    ASSAY_ASSIGN_OR_RETURN(const BlockTimes times, time_calls(arm, warm_up.next_calls()));
    admission.add(times.block);
  }
  arm.warm_up = warm_up.account();
  arm.call_ns = warm_up.call_ns();
  arm.admission = admission.account(now_ns() - warm_ns);
  return absl::OkStatus();
}

absl::Status Session::time_leg(Arm& arm, const Leg& leg, v1::Measurement& timed) {
  // What the last call leaves is looked at on close, so nothing older may be there.
  const std::size_t last_set = (next_set_ + arm.num_calls - 1) % state_.workspace.sets().size();
  ASSAY_RETURN_IF_ERROR(state_.workspace.poison(last_set, kSecondPoison));
  const std::int64_t start_ns = now_ns();
  ASSAY_ASSIGN_OR_RETURN(BlockTimes times, time_calls(arm, arm.num_calls, leg.is_traced));
  times.block.set_round(leg.round);
  times.block.set_leg(leg.place);
  append(times, timed);
  // The device should not idle longer between blocks than it works in them.
  const std::int64_t read_start_ns = now_ns();
  if (!leg.is_looked_at && read_start_ns - start_ns < std::max(kUnhurriedBlock_ns, read_ns_)) {
    return absl::OkStatus();
  }
  arm.was_timed = true;
  ASSAY_RETURN_IF_ERROR(state_.workspace.read_outputs(last_set, arm.timed));
  read_ns_ = now_ns() - read_start_ns;
  return absl::OkStatus();
}

absl::StatusOr<v1::RunnerTimed> Session::time(const v1::RunnerTime& request) {
  if (!is_open_) {
    return refused(absl::FailedPreconditionError("no arms that passed their checks are open"));
  }
  const NvtxRange range(absl::StrCat("experiment ", experiment_id_));
  const std::int64_t start_ns = now_ns();
  v1::RunnerTimed timed;
  timed.mutable_baseline();
  const std::uint32_t end_round = request.first_round() + request.num_rounds();
  for (std::uint32_t round = request.first_round(); round < end_round; ++round) {
    const bool is_first = round == request.first_round();
    const bool is_looked_at = is_first || round + 1 == end_round;
    const std::vector<ArmRole> legs = arms_[1].has_value()
                                          ? round_legs(request.schedule(), round, request.seed())
                                          : measure_legs();
    for (std::uint32_t leg = 0; leg < legs.size(); ++leg) {
      const bool is_baseline = legs[leg] == ArmRole::kBaseline;
      ASSAY_RETURN_IF_ERROR(
          time_leg(*arms_[is_baseline ? 0 : 1],
                   {round, leg, is_looked_at, is_first},
                   is_baseline ? *timed.mutable_baseline() : *timed.mutable_candidate()));
    }
    if (request.budget_ns() > 0 && now_ns() - start_ns > request.budget_ns()) {
      timed.set_out_of_budget(true);
      break;
    }
  }
  return timed;
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

// Launches by a stream say nothing about a graph.
absl::Status Session::time_again(Arm& arm, v1::Measurement& measurement) {
  if (launch_mode_ == v1::GRAPH) {
    return source_ == v1::CUDA_EVENTS ? trace_replay(arm, measurement) : absl::OkStatus();
  }
  if (source_ == v1::CUDA_EVENTS || !subject_.timed_by_kernels_only().ok()) {
    return absl::OkStatus();
  }
  const auto events =
      state_.device.time_by_events(block_request(arm, std::min(arm.num_calls, kEventCalls)));
  if (events.ok()) {
    measurement.mutable_event_stages()->Add(events->stages.begin(), events->stages.end());
  }
  return absl::IsUnimplemented(events.status()) ? absl::OkStatus() : events.status();
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
