#include "profiler/session.h"
#include "profiler/warm_up.h"
#include "proto/status.h"

#include <algorithm>

namespace assay::profiler {
namespace {

// The first mostly tells how long a call is, and the second is as long as that asks for.
constexpr int kMostGraphs = 5;
constexpr std::uint32_t kGrowth = 8;
// Calls of a traced replay that are kept.
constexpr int kMostTracedCalls = 200;

}  // namespace

absl::StatusOr<std::uint32_t> Session::calls_of_graph(std::uint32_t asked,
                                                      std::int64_t call_ns) const {
  if (source_ == v1::CUPTI_ACTIVITY) {
    return calls_a_traced_replay(asked, call_ns, sets_);
  }
  return calls_a_replay(asked, call_ns, sets_);
}

absl::Status Session::capture(Arm& arm, std::uint32_t asked) {
  std::uint32_t num_calls = 0;
  for (int graph = 0; graph < kMostGraphs; ++graph) {
    // A replay without a time was over before its end was launched.
    const std::uint32_t least =
        arm.call_ns > 0 ? asked : std::max(asked, kGrowth * kReplays * num_calls);
    ASSAY_ASSIGN_OR_RETURN(const std::uint32_t wanted, calls_of_graph(least, arm.call_ns));
    if (wanted == num_calls) {
      break;
    }
    num_calls = wanted;
    ASSAY_ASSIGN_OR_RETURN(arm.graph, state_.device.capture(block_request(arm, num_calls)));
    arm.calls_per_replay = num_calls;
    ASSAY_ASSIGN_OR_RETURN(const BlockTimes times, time_calls(arm, num_calls));
    arm.call_ns = median_call_ns(times);
  }
  arm.num_calls = source_ == v1::CUPTI_ACTIVITY ? num_calls : kReplays * num_calls;
  return absl::OkStatus();
}

absl::StatusOr<BlockTimes> Session::time_calls(Arm& arm, std::uint32_t num_calls, bool is_traced) {
  if (arm.graph != nullptr) {
    const std::uint32_t num_replays = std::max(num_calls / arm.calls_per_replay, 1U);
    return source_ == v1::CUPTI_ACTIVITY ? arm.graph->time_by_activity(num_replays, is_traced)
                                         : arm.graph->time_replays(num_replays);
  }
  BlockRequest request = block_request(arm, num_calls);
  request.is_traced = is_traced;
  auto times = source_ == v1::CUDA_EVENTS ? state_.device.time_by_events(request)
                                          : state_.device.time_block(request);
  next_set_ += num_calls;
  arm.num_elsewhere += times.ok() ? times->num_elsewhere : 0;
  return times;
}

// A replay more, whose kernels say what of the call is theirs.
absl::Status Session::trace_replay(Arm& arm, v1::Measurement& measurement) {
  auto times = arm.graph->time_by_activity(1, true);
  if (absl::IsUnimplemented(times.status())) {
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(times.status());
  for (v1::StageSamples& stage : times->stages) {
    if (stage.samples_ns_size() > kMostTracedCalls) {
      stage.mutable_samples_ns()->Truncate(kMostTracedCalls);
    }
    *measurement.add_activity_stages() = stage;
  }
  v1::TracedBlock& traced = *measurement.add_traced_blocks();
  traced.set_is_replay(true);
  traced.set_started_ns(times->block.started_ns());
  for (const v1::KernelSpan& span : times->traced.spans()) {
    if (span.call() < kMostTracedCalls) {
      *traced.add_spans() = span;
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::profiler
