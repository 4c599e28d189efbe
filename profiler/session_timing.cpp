#include "profiler/admission.h"
#include "profiler/nvtx.h"
#include "profiler/poison.h"
#include "profiler/schedule.h"
#include "profiler/session.h"
#include "profiler/warm_up.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::int64_t kUnhurriedBlock_ns = 20'000'000;
constexpr std::uint32_t kEventCalls = 20;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
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

}  // namespace

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

}  // namespace assay::profiler
