#include "profiler/session.h"

#include "tests/profiler/faulty_operator.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

constexpr std::int64_t kSmallCache_bytes = 64 << 10;

class SessionTest : public testing::Test {
 protected:
  SessionTest() { reset_faulty_operator(); }

  static v1::RunnerOpen request(const std::string& baseline, const std::string& candidate) {
    v1::RunnerOpen open;
    open.set_operator_name("axpy");
    open.mutable_baseline()->set_variant(baseline);
    if (!candidate.empty()) {
      open.mutable_candidate()->set_variant(candidate);
    }
    open.set_num_calls(5);
    return open;
  }

  v1::RunnerOpened open(const v1::RunnerOpen& message) {
    auto opened = session_.open(message);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *opened : v1::RunnerOpened();
  }

  v1::BitsReport bits_of(const std::string& candidate) {
    return open(request("plain", candidate)).candidate().bits();
  }

  v1::RunnerTimed time(std::uint32_t num_rounds) {
    v1::RunnerTime message;
    message.set_schedule(v1::BAB);
    message.set_num_rounds(num_rounds);
    auto timed = session_.time(message);
    EXPECT_TRUE(timed.ok()) << timed.status();
    return timed.ok() ? *timed : v1::RunnerTimed();
  }

  std::unique_ptr<Device> device_ = make_cpu_device(kSmallCache_bytes);
  RunnerState state_{*device_};
  Session session_{state_, faulty_operator()};
};

TEST_F(SessionTest, RefusesAVariantThatThereIsNotAndListsTheOthers) {
  const auto opened = session_.open(request("plain", "nowhere"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(opened.status().message()).find("no variant `nowhere`; valid: alias, "),
            0U);
}

TEST_F(SessionTest, RefusesABadParameterByName) {
  v1::RunnerOpen message = request("plain", "");
  v1::Setting& width = *message.mutable_baseline()->add_parameters();
  width.set_name("width");
  width.set_value("9");
  const auto opened = session_.open(message);
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(std::string(opened.status().message()),
            "parameters of plain: width: `9` is not an integer in [1, 8]");
}

TEST_F(SessionTest, RefusesWhatTheOperatorDoesNotTake) {
  v1::RunnerOpen message = request("plain", "");
  v1::Setting& n = *message.mutable_workload()->add_axes();
  n.set_name("n");
  n.set_value("13");
  EXPECT_TRUE(is_refused(session_.open(message).status()));
}

TEST_F(SessionTest, RefusesAWorkloadThatTheDeviceCannotHoldAndGoesOn) {
  v1::RunnerOpen message = request("plain", "twin");
  v1::Setting& n = *message.mutable_workload()->add_axes();
  n.set_name("n");
  n.set_value("10000000000000");
  const absl::Status status = session_.open(message).status();
  EXPECT_TRUE(is_refused(status));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(status.message())
                .find("workload of 200,000,000,000,000 bytes is over the device's limit of "),
            0U)
      << status;
  EXPECT_EQ(bits_of("twin").failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(SessionTest, RefusesAVariantThatTheHostCannotRun) {
  const auto opened = session_.open(request("plain", "unavailable"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, RejectsALauncherThatGivesUp) {
  const v1::BitsReport bits = bits_of("refusing");
  EXPECT_EQ(bits.failed(), v1::BITS_FINISHED);
  EXPECT_EQ(bits.detail(), "INVALID_ARGUMENT: stage add: shape is not taken");
}

TEST_F(SessionTest, RejectsOutputThatIsNotWritten) {
  const v1::BitsReport bits = bits_of("partial");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(), "500 of 1,000 elements of `out` not written, first out[500]");
}

TEST_F(SessionTest, RejectsOutputThatAFormSaysItLeaves) {
  const v1::BitsReport bits = bits_of("brief_half");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(), "500 of 1,000 elements of `out` not written, first out[500]");
}

TEST_F(SessionTest, RejectsAWritePastTheEnd) {
  const v1::BitsReport bits = bits_of("overrun");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(), "written past the end of `out`");
}

TEST_F(SessionTest, RejectsAReadPastTheEnd) {
  const v1::BitsReport bits = bits_of("past_end");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 12 elements past the end of `x`: with other bytes there 1 of "
                               "1,000 elements of `out` differ, first out[999]: "),
            0U)
      << bits.detail();
  EXPECT_EQ(bits_of("twin").failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(SessionTest, RejectsAChangedInputAndRestoresItForTheNext) {
  const v1::BitsReport bits = bits_of("in_place");
  EXPECT_EQ(bits.failed(), v1::BITS_INPUTS);
  EXPECT_EQ(bits.detail(), "input `y` was changed");
  EXPECT_EQ(bits_of("twin").failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(SessionTest, RejectsBitsThatDoNotRepeat) {
  const v1::BitsReport bits = bits_of("restless");
  EXPECT_EQ(bits.failed(), v1::BITS_REPEATABLE);
  EXPECT_EQ(bits.num_digests(), 3U);
  EXPECT_EQ(bits.detail().find("3 digests in 3 runs; 1 of 1,000 elements of `out` differ"), 0U)
      << bits.detail();
}

TEST_F(SessionTest, ShowsScratchThatIsReadBeforeItIsWritten) {
  const v1::BitsReport bits = bits_of("scratchy");
  EXPECT_EQ(bits.failed(), v1::BITS_EQUAL);
  EXPECT_EQ(bits.drift().first_index(0), 999);
}

TEST_F(SessionTest, ShowsUnwrittenElementsThatAreReadThoughMultipliedByZero) {
  const v1::BitsReport bits = bits_of("peeking");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads unwritten scratch: with another poison 1 of 1,000"), 0U)
      << bits.detail();
}

TEST_F(SessionTest, RejectsDriftAndStillReportsTheTolerance) {
  const v1::BitsReport bits = bits_of("drifting");
  EXPECT_EQ(bits.failed(), v1::BITS_EQUAL);
  EXPECT_EQ(bits.drift().num_differing(), 1);
  EXPECT_TRUE(bits.tolerance_known());
  EXPECT_GT(bits.tolerance_used(), 0.0);
  EXPECT_LT(bits.tolerance_used(), 1.0);
}

TEST_F(SessionTest, RejectsAnotherFamilyEvenWithEqualBits) {
  const v1::BitsReport bits = bits_of("other_family");
  EXPECT_EQ(bits.failed(), v1::BITS_EQUAL);
  EXPECT_EQ(bits.detail(), "family other is not measured against baseline");
}

TEST_F(SessionTest, RejectsABaselineOutOfTolerance) {
  const v1::RunnerOpened opened = open(request("far", ""));
  EXPECT_EQ(opened.baseline().bits().failed(), v1::BITS_TOLERANCE);
  EXPECT_EQ(opened.baseline().bits().tolerance_place(), "out[999]");
}

TEST_F(SessionTest, ComparesNothingWithABaselineThatFails) {
  const v1::RunnerOpened opened = open(request("restless", "twin"));
  EXPECT_EQ(opened.baseline().bits().failed(), v1::BITS_REPEATABLE);
  EXPECT_FALSE(opened.candidate().has_bits());
}

TEST_F(SessionTest, DoesNotTimeARejectedArm) {
  bits_of("drifting");
  const auto timed = session_.time(v1::RunnerTime());
  EXPECT_TRUE(is_refused(timed.status()));
}

TEST_F(SessionTest, FindsATimedCallThatIsNotTheCheckedOne) {
  open(request("plain", "lazy_when_timed"));
  time(2);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(closed->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(closed->candidate().bits().failed(), v1::BITS_TIMED_LAUNCH);
}

TEST_F(SessionTest, FindsAnInputThatTimedCallsChanged) {
  open(request("meddling_when_timed", ""));
  time(1);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(closed->baseline().bits().failed(), v1::BITS_INPUTS);
  EXPECT_EQ(closed->baseline().bits().detail(), "input `x` was changed by the timed calls");
}

TEST_F(SessionTest, TimesBothArmsInTheOrderOfTheSchedule) {
  const v1::RunnerOpened opened = open(request("plain", "twin"));
  EXPECT_FALSE(opened.identical_code());
  EXPECT_EQ(opened.candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(opened.baseline().outputs_size(), 2);
  EXPECT_EQ(opened.baseline().inputs_size(), 2);
  EXPECT_EQ(opened.baseline().outputs(0).num_nontrivial(), 1000);
  EXPECT_EQ(opened.baseline().outputs(1).digest(), opened.candidate().outputs(1).digest());
  EXPECT_EQ(opened.baseline().traced_size(), 2);
  EXPECT_EQ(opened.baseline().cache_mode(), v1::HOT);

  const v1::RunnerTimed timed = time(2);
  EXPECT_EQ(timed.baseline().blocks_size(), 2);
  ASSERT_EQ(timed.candidate().blocks_size(), 4);
  EXPECT_EQ(timed.candidate().blocks(3).round(), 1U);
  EXPECT_EQ(timed.candidate().blocks(3).leg(), 2U);
  ASSERT_EQ(timed.candidate().stages_size(), 3);
  EXPECT_EQ(timed.candidate().stages(2).stage(), "total");
  EXPECT_EQ(timed.candidate().stages(0).samples_ns_size(), 20);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_FALSE(closed->candidate().has_bits());
}

TEST_F(SessionTest, DigestsNoIntermediateThatAFormLeaves) {
  const v1::RunnerOpened opened = open(request("plain", "brief"));
  EXPECT_EQ(opened.candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
      << opened.candidate().bits().detail();
  EXPECT_EQ(opened.baseline().outputs_size(), 2);
  ASSERT_EQ(opened.candidate().outputs_size(), 1);
  EXPECT_EQ(opened.candidate().outputs(0).tensor(), "out");
  time(1);
  const auto closed = session_.close(v1::RunnerClose());
  ASSERT_TRUE(closed.ok());
  EXPECT_FALSE(closed->candidate().has_bits());
  EXPECT_EQ(open(request("brief", "plain")).candidate().bits().failed(),
            v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(SessionTest, AlarmsWhereMoreOfTheToleranceIsUsedThanIsExplained) {
  const v1::RunnerOpened opened = open(request("drifting", ""));
  const v1::BitsReport& bits = opened.baseline().bits();
  EXPECT_EQ(bits.failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_TRUE(bits.tolerance_alarm());
  ASSERT_EQ(bits.tolerance_buckets_size(), 10);
  EXPECT_EQ(bits.tolerance_buckets(8).tolerance_used(), 0.0);
  EXPECT_EQ(bits.tolerance_buckets(9).tolerance_used(), bits.tolerance_used());
  EXPECT_FALSE(open(request("plain", "")).baseline().bits().tolerance_alarm());
}

TEST_F(SessionTest, CallsTheSameCodeWithTheSameParametersIdentical) {
  EXPECT_TRUE(open(request("plain", "alias")).identical_code());
  v1::RunnerOpen message = request("plain", "alias");
  v1::Setting& width = *message.mutable_candidate()->add_parameters();
  width.set_name("width");
  width.set_value("8");
  EXPECT_FALSE(open(message).identical_code());
}

TEST_F(SessionTest, RotatesOverFourTimesTheCacheWhenCold) {
  v1::RunnerOpen message = request("plain", "twin");
  message.set_cache_mode(v1::COLD);
  const v1::RunnerOpened opened = open(message);
  EXPECT_EQ(opened.baseline().cache_mode(), v1::COLD);
  EXPECT_EQ(opened.baseline().num_input_sets(), 4 * kSmallCache_bytes / 12'000 + 1);
  time(1);
  EXPECT_TRUE(session_.close(v1::RunnerClose()).ok());
}

TEST_F(SessionTest, StopsAfterAWholeRoundPastItsBudget) {
  open(request("plain", "twin"));
  v1::RunnerTime message;
  message.set_num_rounds(48);
  message.set_budget_ns(1);
  const auto timed = session_.time(message);
  ASSERT_TRUE(timed.ok());
  EXPECT_TRUE(timed->out_of_budget());
  EXPECT_EQ(timed->baseline().blocks_size(), 1);
  EXPECT_EQ(timed->candidate().blocks_size(), 2);
}

}  // namespace
}  // namespace assay::profiler
