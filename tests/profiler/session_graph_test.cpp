#include "profiler/block_plan.h"
#include "profiler/session.h"
#include "tests/profiler/faulty_operator.h"
#include "tests/profiler/replaying_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay::profiler {
namespace {

constexpr std::int64_t kSmallCache_bytes = 64 << 10;

class SessionGraphTest : public testing::Test {
 protected:
  SessionGraphTest() { reset_faulty_operator(); }

  static v1::RunnerOpen request(const std::string& baseline, const std::string& candidate) {
    v1::RunnerOpen open;
    open.set_operator_name("axpy");
    open.mutable_baseline()->set_variant(baseline);
    if (!candidate.empty()) {
      open.mutable_candidate()->set_variant(candidate);
    }
    open.set_launch_mode(v1::GRAPH);
    return open;
  }

  v1::RunnerOpened open(const v1::RunnerOpen& message) {
    auto opened = session_.open(message);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *opened : v1::RunnerOpened();
  }

  v1::RunnerTimed time(std::uint32_t num_rounds) {
    v1::RunnerTime message;
    message.set_schedule(v1::BAB);
    message.set_num_rounds(num_rounds);
    auto timed = session_.time(message);
    EXPECT_TRUE(timed.ok()) << timed.status();
    return timed.ok() ? *timed : v1::RunnerTimed();
  }

  ReplayingDevice device_{kSmallCache_bytes};
  RunnerState state_{device_};
  Session session_{state_, faulty_operator()};
};

TEST_F(SessionGraphTest, RefusesADeviceWithoutGraphsBeforeAnythingRuns) {
  const std::unique_ptr<Device> cpu = make_cpu_device(kSmallCache_bytes);
  RunnerState state(*cpu);
  Session session(state, faulty_operator());
  const auto opened = session.open(request("plain", "twin"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(opened.status(),
            refused(absl::FailedPreconditionError("launch_mode: the cpu device has no graphs")));
}

TEST_F(SessionGraphTest, RefusesCallsThatCannotBeCaptured) {
  device_.captured = absl::FailedPreconditionError("launch_mode: the calls of `plain` wait");
  const auto opened = session_.open(request("plain", "twin"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(is_refused(session_.time(v1::RunnerTime()).status()));
}

TEST_F(SessionGraphTest, GivesUpADeviceThatFailsWhileItCaptures) {
  device_.captured = absl::InternalError("cudaStreamSynchronize: cudaErrorIllegalAddress");
  const auto opened = session_.open(request("plain", "twin"));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(is_refused(opened.status()));
}

TEST_F(SessionGraphTest, RefusesEventsAroundAColdGraphWhoseSetsDoNotFit) {
  device_.mutable_limits().rotation_bytes = 100'000;
  v1::RunnerOpen message = request("plain", "twin");
  message.set_cache_mode(v1::COLD);
  message.set_timing_source(v1::CUDA_EVENTS);
  const auto opened = session_.open(message);
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(std::string(opened.status().message()),
            "timing_source: events around a graph would time the flushes in it, and the 22 input "
            "sets of a cold rotation do not fit; ask for CUPTI_ACTIVITY (--timing activity), the "
            "cache mode hot or the launch mode stream");
  EXPECT_TRUE(device_.captures.empty());
}

TEST_F(SessionGraphTest, TimesAColdGraphThatFlushesKernelByKernel) {
  device_.mutable_limits().rotation_bytes = 100'000;
  v1::RunnerOpen message = request("plain", "twin");
  message.set_cache_mode(v1::COLD);
  const v1::RunnerOpened opened = open(message);
  EXPECT_EQ(opened.baseline().timing_source(), v1::CUPTI_ACTIVITY);
  ASSERT_FALSE(device_.captures.empty());
  EXPECT_TRUE(device_.captures.back().flush);
  const v1::RunnerTimed timed = time(2);
  const v1::Block& block = timed.candidate().blocks(0);
  EXPECT_EQ(block.calls_per_sample(), 0U);
  EXPECT_EQ(timed.candidate().stages(0).samples_ns_size(), static_cast<int>(4 * block.num_calls()));
  // The first round of a request.
  EXPECT_EQ(timed.candidate().traced_blocks_size(), 2);
  EXPECT_EQ(timed.baseline().traced_blocks_size(), 1);
  EXPECT_TRUE(session_.close({}).ok());
}

TEST_F(SessionGraphTest, RefusesKernelTimesWhereAnotherProfilerHasThem) {
  device_.mutable_limits().activity =
      absl::UnavailableError("cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)");
  v1::RunnerOpen message = request("plain", "twin");
  message.set_timing_source(v1::CUPTI_ACTIVITY);
  const auto refusal = session_.open(message);
  EXPECT_TRUE(is_refused(refusal.status()));
  EXPECT_EQ(std::string(refusal.status().message()),
            "timing_source: kernel times cannot be had (cuptiSubscribe: "
            "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)); end the other profiler, or ask "
            "for CUDA_EVENTS (--timing events)");
  message.set_timing_source(v1::CUDA_EVENTS);
  EXPECT_EQ(open(message).baseline().timing_source(), v1::CUDA_EVENTS);
  time(1);
  const auto closed = session_.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->baseline().activity_stages_size(), 0);
}

TEST_F(SessionGraphTest, ReplaysOnceMoreKernelByKernelBesideEvents) {
  EXPECT_EQ(open(request("plain", "twin")).baseline().timing_source(), v1::CUDA_EVENTS);
  time(1);
  EXPECT_EQ(device_.num_traced_replays, 0);
  const auto closed = session_.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(device_.num_traced_replays, 2);
  ASSERT_EQ(closed->candidate().activity_stages_size(), 1);
  EXPECT_EQ(closed->candidate().activity_stages(0).samples_ns(0), 500'000);
  ASSERT_EQ(closed->candidate().traced_blocks_size(), 1);
  EXPECT_TRUE(closed->candidate().traced_blocks(0).is_replay());
}

TEST_F(SessionGraphTest, CapturesNothingOfARejectedArm) {
  EXPECT_EQ(open(request("plain", "drifting")).candidate().bits().failed(), v1::BITS_EQUAL);
  EXPECT_TRUE(device_.captures.empty());
}

TEST_F(SessionGraphTest, FindsAReplayThatIsNotTheCheckedCall) {
  open(request("plain", "lazy_when_timed"));
  time(2);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(closed->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(closed->candidate().bits().failed(), v1::BITS_TIMED_LAUNCH);
}

TEST_F(SessionGraphTest, TimesReplaysOfBothArmsInTheOrderOfTheSchedule) {
  const v1::RunnerOpened opened = open(request("plain", "twin"));
  EXPECT_EQ(opened.baseline().launch_mode(), v1::GRAPH);
  EXPECT_EQ(opened.candidate().timing_source(), v1::CUDA_EVENTS);
  EXPECT_FALSE(opened.baseline().warm_up().empty());

  const v1::RunnerTimed timed = time(2);
  ASSERT_EQ(timed.baseline().blocks_size(), 2);
  ASSERT_EQ(timed.candidate().blocks_size(), 4);
  for (const v1::Block& block : timed.candidate().blocks()) {
    EXPECT_EQ(block.calls_per_sample(), 4U);
    EXPECT_EQ(block.num_calls(), 20U);
  }
  EXPECT_EQ(timed.candidate().blocks(3).leg(), 2U);
  ASSERT_EQ(timed.candidate().stages_size(), 1);
  EXPECT_EQ(timed.candidate().stages(0).stage(), "total");
  EXPECT_EQ(timed.candidate().stages(0).samples_ns_size(), 4 * static_cast<int>(kReplays));
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_FALSE(closed->candidate().has_bits());
}

TEST_F(SessionGraphTest, MixesInNoLaunchesByAStream) {
  open(request("plain", "twin"));
  time(1);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(closed->baseline().event_stages_size(), 0);
  EXPECT_EQ(device_.num_stream_blocks, 0);
}

TEST_F(SessionGraphTest, CapturesAgainUntilAReplayIsLongBesideAnEvent) {
  device_.call_ns = 10'000;
  open(request("plain", "twin"));
  ASSERT_EQ(device_.captures.size(), 4U);
  EXPECT_EQ(device_.captures[0].num_calls, 4U);
  EXPECT_EQ(device_.captures[1].num_calls, 150U);
  EXPECT_EQ(device_.captures[3].num_calls, 150U);
  EXPECT_EQ(time(1).baseline().blocks(0).calls_per_sample(), 150U);
}

TEST_F(SessionGraphTest, GrowsAGraphThatIsOverBeforeItIsLaunched) {
  device_.call_ns = 20'000;
  device_.least_calls = 30;
  open(request("plain", ""));
  ASSERT_EQ(device_.captures.size(), 3U);
  EXPECT_EQ(device_.captures[1].num_calls, 32U);
  EXPECT_EQ(device_.captures[2].num_calls, 75U);
}

TEST_F(SessionGraphTest, CapturesFewerCallsWhenTheyAreSlow) {
  device_.call_ns = 60'000'000;
  open(request("plain", ""));
  EXPECT_EQ(time(1).baseline().blocks(0).num_calls(), kReplays);
}

TEST_F(SessionGraphTest, ReplaysWholeRotationsWhenCold) {
  v1::RunnerOpen message = request("plain", "twin");
  message.set_cache_mode(v1::COLD);
  const v1::RunnerOpened opened = open(message);
  const std::uint32_t num_sets = opened.baseline().num_input_sets();
  EXPECT_EQ(num_sets, 4 * kSmallCache_bytes / 12'000 + 1);
  EXPECT_GT(opened.candidate().floor_ns(), 0);
  device_.calls.clear();
  const v1::RunnerTimed timed = time(1);
  EXPECT_EQ(timed.baseline().blocks(0).calls_per_sample() % num_sets, 0U);
  // From replay to replay and from block to block no set comes back before all others were there.
  for (std::size_t place = num_sets; place < device_.calls.size(); ++place) {
    const auto end = device_.calls.begin() + static_cast<std::ptrdiff_t>(place);
    ASSERT_EQ(device_.calls[place], device_.calls[place - num_sets]);
    ASSERT_EQ(std::count(end - num_sets, end, device_.calls[place]), 1) << place;
  }
  EXPECT_TRUE(session_.close(v1::RunnerClose()).ok());
}

}  // namespace
}  // namespace assay::profiler
