#include "profiler/block_plan.h"

#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

constexpr std::uint32_t kDefaultCalls = 20;
constexpr std::uint32_t kLeastCalls = 3;
constexpr std::int64_t kLongBlock_ns = 100'000'000;
constexpr std::int64_t kCachesToRotate = 4;
constexpr std::int64_t kMostSets = 1'000;  // more take longer to make than flushes take

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

SetsPlan plan_sets(v1::CacheMode cache_mode,
                   std::int64_t min_bytes,
                   std::int64_t set_bytes,
                   const DeviceLimits& limits) {
  if (cache_mode != v1::COLD) {
    return {};
  }
  // A call may touch little of a large set, so only the bytes that it must move count.
  const std::int64_t touched = std::clamp<std::int64_t>(min_bytes, 1, set_bytes + 1);
  const std::int64_t num_sets =
      std::max<std::int64_t>(2, (kCachesToRotate * limits.cache_bytes + touched - 1) / touched);
  return {.num_sets = num_sets,
          .flush = num_sets > kMostSets || num_sets > limits.rotation_bytes / (set_bytes + 1)};
}

std::uint32_t calls_a_block(std::uint32_t asked, std::int64_t call_ns) {
  if (asked != 0) {
    return std::min(asked, kMostCalls);
  }
  const std::int64_t fitting = call_ns > 0 ? kLongBlock_ns / call_ns : kDefaultCalls;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(fitting, kLeastCalls, kDefaultCalls));
}

absl::StatusOr<std::uint32_t> calls_a_replay(std::uint32_t asked,
                                             std::int64_t call_ns,
                                             const SetsPlan& sets) {
  if (sets.flush) {
    return absl::FailedPreconditionError(
        absl::StrCat("timing_source: events around a graph would time the flushes in it, and the ",
                     with_commas(sets.num_sets),
                     " input sets of a cold rotation do not fit; ask for CUPTI_ACTIVITY (--timing "
                     "activity), the "
                     "cache mode hot or the launch mode stream"));
  }
  std::int64_t num_calls = (calls_a_block(asked, call_ns) + kReplays - 1) / kReplays;
  if (call_ns > 0) {
    num_calls = std::max(num_calls, (kLeastReplay_ns + call_ns - 1) / call_ns);
  }
  // The largest number of whole rotations is still one of them.
  num_calls =
      std::min(round_up(num_calls, sets.num_sets), kMostCalls / sets.num_sets * sets.num_sets);
  return static_cast<std::uint32_t>(num_calls);
}

std::uint32_t calls_a_traced_replay(std::uint32_t asked,
                                    std::int64_t call_ns,
                                    const SetsPlan& sets) {
  const std::int64_t num_calls = calls_a_block(asked, call_ns);
  if (sets.flush) {
    return static_cast<std::uint32_t>(num_calls);
  }
  return static_cast<std::uint32_t>(
      std::min(round_up(num_calls, sets.num_sets), kMostCalls / sets.num_sets * sets.num_sets));
}

std::int64_t mean_call_ns(std::int64_t replay_ns, std::uint32_t calls_per_replay) {
  const std::int64_t num_calls = std::max<std::int64_t>(calls_per_replay, 1);
  return replay_ns > 0 ? (replay_ns + num_calls / 2) / num_calls : 0;
}

}  // namespace assay::profiler
