// How many calls and input sets a timed block has: arithmetic, before anything runs.
//
// In the graph launch mode a block is kReplays replays of one graph, and a sample is the mean call
// of a replay; where kernels are timed one by one it is one replay, and a sample is a call. The
// graph holds whole rotations over the sets, so that the first call of a replay finds the caches as
// cold as every other, and lasts long beside the grain of an event. Blocks go through the same
// rounds as in the stream mode.
#pragma once

#include "profiler/device.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::profiler {

inline constexpr std::uint32_t kMostCalls = 10'000;  // a block, and a graph
inline constexpr std::uint32_t kReplays = 5;
inline constexpr std::int64_t kLeastReplay_ns = 1'500'000;

// Sets of tensors that calls rotate over. With `flush` so many do not fit or are too many, and
// caches are flushed before every call instead.
struct SetsPlan {
  std::int64_t num_sets = 1;
  bool flush = false;
};

// A call moves `min_bytes` of a set that takes `set_bytes`.
SetsPlan plan_sets(v1::CacheMode cache_mode,
                   std::int64_t min_bytes,
                   std::int64_t set_bytes,
                   const DeviceLimits& limits);

// Calls a block, `asked` for or (0) as their length allows; 0 ns: not known yet.
std::uint32_t calls_a_block(std::uint32_t asked, std::int64_t call_ns);

// Calls that a graph holds whose replays are timed as a whole. FAILED_PRECONDITION where none can
// keep the caches cold.
absl::StatusOr<std::uint32_t> calls_a_replay(std::uint32_t asked,
                                             std::int64_t call_ns,
                                             const SetsPlan& sets);

// Calls that a graph holds whose kernels are timed one by one, with caches rotated or flushed: a
// block.
std::uint32_t calls_a_traced_replay(std::uint32_t asked,
                                    std::int64_t call_ns,
                                    const SetsPlan& sets);

// Rounded to the nearest; 0 for a replay that took no time.
std::int64_t mean_call_ns(std::int64_t replay_ns, std::uint32_t calls_per_replay);

}  // namespace assay::profiler
