#include "profiler/session.h"
#include "proto/status.h"

#include <algorithm>

namespace assay::profiler {
namespace {

// The first mostly tells how long a call is, and the second is as long as that asks for.
constexpr int kMostGraphs = 5;
constexpr std::uint32_t kGrowth = 8;

}  // namespace

absl::Status Session::capture(Arm& arm, std::uint32_t asked) {
  std::uint32_t num_calls = 0;
  for (int graph = 0; graph < kMostGraphs; ++graph) {
    // A replay without a time was over before its end was launched.
    const std::uint32_t least =
        arm.call_ns > 0 ? asked : std::max(asked, kGrowth * kReplays * num_calls);
    ASSAY_ASSIGN_OR_RETURN(const std::uint32_t wanted, calls_a_replay(least, arm.call_ns, sets_));
    if (wanted == num_calls) {
      break;
    }
    num_calls = wanted;
    ASSAY_ASSIGN_OR_RETURN(arm.graph, state_.device.capture(block_request(arm, num_calls)));
    ASSAY_ASSIGN_OR_RETURN(const BlockTimes times, arm.graph->time_replays(1));
    arm.call_ns = times.stages.front().samples_ns(0);
  }
  arm.num_calls = kReplays * num_calls;
  return absl::OkStatus();
}

absl::StatusOr<BlockTimes> Session::time_calls(Arm& arm, std::uint32_t num_calls) {
  if (arm.graph != nullptr) {
    return arm.graph->time_replays(std::max(kReplays * num_calls / arm.num_calls, 1U));
  }
  auto times = state_.device.time_block(block_request(arm, num_calls));
  next_set_ += num_calls;
  return times;
}

}  // namespace assay::profiler
