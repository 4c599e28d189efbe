#include "profiler/invariance_check.h"

#include "tests/profiler/faulty_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

class InvarianceCheckTest : public testing::Test {
 protected:
  absl::StatusOr<v1::CheckResult> run(const std::string& name) {
    reset_faulty_operator();
    const auto all = faulty_operator().invariances;
    const auto found = std::ranges::find(all, name, &kernels::Invariance::name);
    return run_invariance(state_, faulty_operator(), *found, [&](double share, const auto& what) {
      progress_.push_back(share);
      message_ = what;
      return stop_;
    });
  }

  v1::CheckResult result(const std::string& name) {
    const auto checked = run(name);
    EXPECT_TRUE(checked.ok()) << checked.status();
    return checked.ok() ? *checked : v1::CheckResult();
  }

  void expect_refused(const std::string& name, const std::string& why) {
    const absl::Status status = run(name).status();
    EXPECT_TRUE(is_refused(status)) << status;
    EXPECT_EQ(std::string(status.message()), why);
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1 << 20);
  RunnerState state_{*device_};
  std::vector<double> progress_;
  std::string message_;
  absl::Status stop_;
};

TEST_F(InvarianceCheckTest, RefusesPairsThatCouldNotFail) {
  expect_refused("matches_dead",
                 "n=28: matched elements [0, 20) of `product` are not all live in the left call");
  expect_refused("matches_nothing", "n=28: no element of an output is matched");
  expect_refused("lives_elsewhere",
                 "n=28: the live elements of `out` are not the same in both calls");
}

TEST_F(InvarianceCheckTest, RefusesAnArmThatIsMisspeltWhereItsVariantIsThere) {
  expect_refused(
      "misspelt",
      "arm `plain:width=9`: parameters of plain: width: `9` is not an integer in [1, 8]");
}

TEST_F(InvarianceCheckTest, NamesTheSmallestPairAndArmThatDiffer) {
  const v1::CheckResult checked = result("differs_at_second");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.suite(), "invariances");
  EXPECT_EQ(checked.name(), "differs_at_second");
  EXPECT_EQ(checked.num_cases(), 3 * 2);
  EXPECT_EQ(checked.num_differing(), 2);
  EXPECT_EQ(checked.summary(), "6 pairs of calls, 2 differ");
  EXPECT_EQ(
      checked.detail().find("n=30, by_size: 1 of 19 elements of `out` differ, first out[1]: "), 0U)
      << checked.detail();
  EXPECT_EQ(checked.drift().tensor(), "out");
  EXPECT_EQ(checked.drift().first_index(0), 1);
  EXPECT_NE(checked.drift().expected_bits(), checked.drift().found_bits());
}

TEST_F(InvarianceCheckTest, SaysWhereTheElementIsInTheRightCall) {
  const v1::CheckResult checked = result("shifted");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.num_differing(), 2);
  EXPECT_NE(checked.detail().find("3 of 3 elements of `out` differ, first out[1]: "),
            std::string::npos)
      << checked.detail();
  EXPECT_NE(checked.detail().find(", in the right call out[2]"), std::string::npos)
      << checked.detail();
}

TEST_F(InvarianceCheckTest, ComparesEveryRepeat) {
  const v1::CheckResult checked = result("third_repeat");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.num_differing(), 1);
  EXPECT_NE(checked.detail().find(", repeat 3 of 5"), std::string::npos) << checked.detail();
}

TEST_F(InvarianceCheckTest, FindsWhatBothCallsLeaveUnwritten) {
  const v1::CheckResult checked = result("unwritten");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.drift().num_differing(), 500);
}

TEST_F(InvarianceCheckTest, FailsAnArmThatGivesUpAndGoesOn) {
  const v1::CheckResult checked = result("gives_up");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.num_cases(), 2);
  EXPECT_EQ(checked.num_differing(), 1);
  EXPECT_EQ(
      checked.detail(),
      "n=28, refusing: the left call gave up: INVALID_ARGUMENT: stage add: shape is not taken");
}

TEST_F(InvarianceCheckTest, FailsACallThatWritesWhereItMustNot) {
  const v1::CheckResult checked = result("overruns");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.detail(),
            "n=28, one of the calls until overrun: written past the end of `out`");
}

TEST_F(InvarianceCheckTest, FailsWhenEveryMatchedOutputIsZero) {
  const v1::CheckResult checked = result("zeros");
  EXPECT_EQ(checked.num_differing(), 0);
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.detail(), "no pair matches an output element that is not zero");
}

TEST_F(InvarianceCheckTest, CountsNothingWhereNoArmIsThere) {
  const v1::CheckResult checked = result("elsewhere");
  EXPECT_TRUE(checked.passed());
  EXPECT_EQ(checked.num_cases(), 0);
  EXPECT_EQ(checked.not_run().find("2 of 2 pairs: on_gpu (no variant `on_gpu`; valid: "), 0U)
      << checked.not_run();
}

TEST_F(InvarianceCheckTest, LeavesOutThePairsWhoseArmIsNotThere) {
  const v1::CheckResult checked = result("partly_elsewhere");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  // A pair that names both arms is run once, not for every arm at hand.
  EXPECT_EQ(checked.num_cases(), 1);
  ASSERT_EQ(checked.arms_size(), 1);
  EXPECT_EQ(checked.arms(0), "plain and plain:width=8");
  EXPECT_EQ(checked.not_run().find("1 of 2 pairs: on_gpu ("), 0U) << checked.not_run();
}

TEST_F(InvarianceCheckTest, LeavesOutAPairThatTheDeviceCannotHold) {
  const v1::CheckResult checked = result("too_large");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  EXPECT_EQ(checked.num_cases(), 2);
  EXPECT_EQ(checked.not_run().find("1 of 2 pairs: pair 1 (workload of 200,000,000,000,000 bytes"),
            0U)
      << checked.not_run();
}

TEST_F(InvarianceCheckTest, ComparesNoIntermediateThatAnArmLeaves) {
  const v1::CheckResult checked = result("left_alone");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  EXPECT_EQ(checked.num_cases(), 4);
}

TEST_F(InvarianceCheckTest, EndsWhenItsProgressCannotBeToldAnyMore) {
  stop_ = absl::UnavailableError("gone");
  EXPECT_EQ(run("holds").status(), stop_);
}

TEST_F(InvarianceCheckTest, HoldsAndTellsItsProgress) {
  const v1::CheckResult checked = result("holds");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  EXPECT_EQ(checked.summary(), "6 pairs of calls, 0 differ");
  EXPECT_EQ(checked.num_nontrivial(), 3 * 19);
  EXPECT_EQ(checked.not_run(), "");
  ASSERT_EQ(progress_.size(), 3U);
  EXPECT_EQ(progress_.back(), 1.0);
  EXPECT_EQ(message_, "holds, n=32");
}

}  // namespace
}  // namespace assay::profiler
