#include "profiler/session.h"
#include "tests/profiler/faulty_operator.h"
#include "tests/profiler/replaying_device.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

using Counted = absl::StatusOr<std::vector<v1::KernelCounters>>;

constexpr std::int64_t kSmallCache_bytes = 64 << 10;

class SessionCountersTest : public testing::Test {
 protected:
  SessionCountersTest() {
    reset_faulty_operator();
    close_.add_counters("dram");
    close_.add_counters("a__b.sum");
  }

  void open_and_time(const std::string& candidate, v1::LaunchMode launch_mode = v1::STREAM) {
    v1::RunnerOpen open;
    open.set_operator_name("axpy");
    open.mutable_baseline()->set_variant("plain");
    open.mutable_candidate()->set_variant(candidate);
    open.set_num_calls(5);
    open.set_launch_mode(launch_mode);
    const auto opened = session_.open(open);
    ASSERT_TRUE(opened.ok()) << opened.status();
    v1::RunnerTime time;
    time.set_schedule(v1::BAB);
    time.set_num_rounds(2);
    static_cast<void>(session_.time(time));
  }

  // Every arm gets a kernel with its own name.
  void count_by_name() {
    device_.counting = [this](const BlockRequest& request,
                              std::span<const std::string> counters) -> Counted {
      counted_.push_back(request.arm->arm.variant());
      EXPECT_EQ(request.num_calls, 1U);
      EXPECT_EQ(counters.size(), 2U);
      v1::KernelCounters kernel;
      kernel.set_kernel(request.arm->arm.variant());
      return std::vector{kernel};
    };
  }

  v1::RunnerClosed close() {
    auto closed = session_.close(close_);
    EXPECT_TRUE(closed.ok()) << closed.status();
    return closed.ok() ? *closed : v1::RunnerClosed();
  }

  ReplayingDevice device_{kSmallCache_bytes};
  RunnerState state_{device_};
  Session session_{state_, faulty_operator()};
  v1::RunnerClose close_;
  std::vector<std::string> counted_;
};

TEST_F(SessionCountersTest, GivesUpADeviceThatFailsWhileItCounts) {
  device_.counting = [](const BlockRequest&, std::span<const std::string>) -> Counted {
    return absl::InternalError("after counting: cudaErrorIllegalAddress");
  };
  open_and_time("twin");
  EXPECT_EQ(session_.close(close_).status(),
            absl::InternalError("after counting: cudaErrorIllegalAddress"));
}

TEST_F(SessionCountersTest, SaysWhyThereAreNoneAndKeepsTheRow) {
  for (const absl::Status& status : {absl::PermissionDeniedError("cuptiRangeProfilerEnable: 35"),
                                     absl::UnavailableError("libcupti.so cannot be loaded"),
                                     absl::InvalidArgumentError("counters: `a__b.sum`"),
                                     absl::UnimplementedError("the device has no counters")}) {
    device_.counting = [&](const BlockRequest&, std::span<const std::string>) -> Counted {
      return status;
    };
    open_and_time("twin");
    const v1::RunnerClosed closed = close();
    EXPECT_EQ(closed.baseline().counters_missing(), std::string(status.message()));
    EXPECT_EQ(closed.candidate().counters_missing(), std::string(status.message()));
    EXPECT_TRUE(closed.candidate().counters().empty());
    EXPECT_FALSE(closed.candidate().has_bits());
    EXPECT_FALSE(closed.candidate().event_stages().empty());
  }
}

TEST_F(SessionCountersTest, CountsEachArmOnceAfterEverythingElse) {
  count_by_name();
  open_and_time("twin");
  const v1::RunnerClosed closed = close();
  EXPECT_EQ(counted_, (std::vector<std::string>{"plain", "twin"}));
  ASSERT_EQ(closed.baseline().counters_size(), 1);
  ASSERT_EQ(closed.candidate().counters_size(), 1);
  EXPECT_EQ(closed.baseline().counters(0).kernel(), "plain");
  EXPECT_EQ(closed.candidate().counters(0).kernel(), "twin");
  EXPECT_EQ(closed.candidate().counters_missing(), "");
}

TEST_F(SessionCountersTest, CountsTheArmsOfGraphsToo) {
  count_by_name();
  open_and_time("twin", v1::GRAPH);
  EXPECT_EQ(close().candidate().counters_size(), 1);
}

TEST_F(SessionCountersTest, CountsNothingUnasked) {
  count_by_name();
  close_.clear_counters();
  open_and_time("twin");
  EXPECT_EQ(close().candidate().counters_missing(), "");
  EXPECT_TRUE(counted_.empty());
}

TEST_F(SessionCountersTest, CountsNoArmThatWasRejected) {
  count_by_name();
  open_and_time("drifting");
  close();
  EXPECT_TRUE(counted_.empty());
}

TEST_F(SessionCountersTest, CountsNoArmWhoseTimedCallsFailed) {
  count_by_name();
  open_and_time("lazy_when_timed");
  const v1::RunnerClosed closed = close();
  EXPECT_EQ(closed.candidate().bits().failed(), v1::BITS_TIMED_LAUNCH);
  EXPECT_EQ(closed.candidate().counters_missing(), "the arm failed a check");
  EXPECT_EQ(counted_, std::vector<std::string>{"plain"});
}

TEST_F(SessionCountersTest, FindsWhatACountedCallDamages) {
  device_.counting = [this](const BlockRequest& request, std::span<const std::string>) -> Counted {
    auto* const input =
        static_cast<std::byte*>(request.sets[request.first_set % request.sets.size()][0]);
    EXPECT_TRUE(device_.fill(input, std::byte{1}, 16).ok());
    return std::vector<v1::KernelCounters>();
  };
  open_and_time("twin");
  EXPECT_EQ(close().candidate().bits().failed(), v1::BITS_INPUTS);
}

}  // namespace
}  // namespace assay::profiler
