#include "profiler/checks.h"

#include "tests/profiler/faulty_operator.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

class ChecksTest : public testing::Test {
 protected:
  absl::StatusOr<v1::CheckResult> run(const std::string& suite, const std::string& name) {
    reset_faulty_operator();
    v1::RunnerCheck request;
    request.set_suite(suite);
    request.set_name(name);
    return run_check(state_, faulty_operator(), request, [&](double progress, const std::string&) {
      progress_ = progress;
      return stop_;
    });
  }

  v1::CheckResult result(const std::string& suite, const std::string& name) {
    const auto checked = run(suite, name);
    EXPECT_TRUE(checked.ok()) << checked.status();
    return checked.ok() ? *checked : v1::CheckResult();
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1 << 20);
  RunnerState state_{*device_};
  double progress_ = 0;
  absl::Status stop_;
};

TEST_F(ChecksTest, RefusesAnUnknownItemAndListsTheOthers) {
  const auto checked = run("parity", "nothing");
  EXPECT_TRUE(is_refused(checked.status()));
  EXPECT_EQ(std::string(checked.status().message())
                .find("no check `parity/nothing`; valid: parity/twins, "),
            0U);
  EXPECT_TRUE(is_refused(run("mutants", "nothing").status()));
}

TEST_F(ChecksTest, FailsAnArmThatDrifts) {
  const v1::CheckResult checked = result("parity", "drifters");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.num_cases(), 3);
  EXPECT_EQ(checked.num_differing(), 3);
  EXPECT_EQ(checked.drift().first_index(0), 19);
  EXPECT_EQ(checked.detail().find("parity/drifters/0, far: 1 of 20 elements of `out` differ"), 0U)
      << checked.detail();
}

TEST_F(ChecksTest, FailsAnArmThatLeavesOutputUnwritten) {
  const v1::CheckResult checked = result("parity", "partials");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.drift().num_differing(), 10);
  EXPECT_EQ(checked.arms_size(), 1);
}

TEST_F(ChecksTest, FailsAnArmThatReadsPastTheEnd) {
  const v1::CheckResult checked = result("parity", "readers");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.detail().find("parity/readers/0, past_end: 1 of 20 elements of `out` differ"),
            0U)
      << checked.detail();
}

TEST_F(ChecksTest, NamesTheArmsAndCasesThatWereLeftOut) {
  EXPECT_EQ(result("parity", "partials").not_run(),
            "unavailable (variant `unavailable`: the host has no such instruction)");
  const v1::CheckResult checked = result("parity", "growing");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  EXPECT_EQ(checked.num_cases(), 1);
  EXPECT_EQ(checked.digests_size(), 1);
  EXPECT_EQ(checked.not_run().find("parity/growing/1 (workload of 200,000,000,000,000 bytes is"),
            0U)
      << checked.not_run();
}

TEST_F(ChecksTest, FailsASuiteWhoseOutputsAreAllZero) {
  const v1::CheckResult checked = result("parity", "zeros");
  EXPECT_EQ(checked.num_differing(), 0);
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.detail(), "no case has an output element that is not zero");
}

TEST_F(ChecksTest, ComparesEveryVariantOfTheFamilyWhenNoArmIsNamed) {
  // "refusing" gives up, which ends a suite.
  const auto checked = run("parity", "all");
  EXPECT_FALSE(checked.ok() && checked->passed());
}

TEST_F(ChecksTest, CountsCasesValuesAndDigestsOfAPassingSuite) {
  const v1::CheckResult checked = result("parity", "twins");
  EXPECT_TRUE(checked.passed()) << checked.detail();
  EXPECT_EQ(checked.summary(), "5 cases, 0 differ");
  EXPECT_EQ(checked.num_nontrivial(), 20 + 21 + 23 + 24);
  ASSERT_EQ(checked.counts_size(), 2);
  EXPECT_EQ(checked.counts(0).label(), "ramp");
  EXPECT_EQ(checked.counts(0).num(), 4);
  ASSERT_EQ(checked.digests_size(), 5);
  EXPECT_EQ(checked.digests(4).workload(), "parity/twins/4");
  EXPECT_NE(checked.digests(0).digest(), checked.digests(1).digest());
  EXPECT_EQ(progress_, 1.0);
  EXPECT_EQ(checked.not_run(), "");
  ASSERT_EQ(checked.tolerance_buckets_size(), 5);
  EXPECT_EQ(checked.tolerance_buckets(0).num_elements(), 5 * 3);
  EXPECT_EQ(checked.tolerance_buckets(4).least_terms(), 16);
  EXPECT_FALSE(checked.tolerance_alarm());
}

TEST_F(ChecksTest, EndsWhenItsProgressCannotBeToldAnyMore) {
  stop_ = absl::UnavailableError("gone");
  EXPECT_EQ(run("parity", "twins").status(), stop_);
}

TEST_F(ChecksTest, FailsAMutantThatSurvives) {
  const v1::CheckResult checked = result("mutants", "harmless");
  EXPECT_FALSE(checked.passed());
  EXPECT_EQ(checked.rejected_by(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(checked.detail(), "survived: no check rejected it");
}

TEST_F(ChecksTest, LetsAMutantLeaveWhatItsVariantLeaves) {
  EXPECT_EQ(result("mutants", "brief_harmless").detail(), "survived: no check rejected it");
}

TEST_F(ChecksTest, RunsAnInvarianceAsAnItem) {
  const v1::CheckResult checked = result("invariances", "holds");
  EXPECT_TRUE(checked.passed());
  EXPECT_EQ(checked.num_cases(), 6);
}

TEST_F(ChecksTest, SaysWhichCheckRejectedAMutant) {
  const v1::CheckResult checked = result("mutants", "adds_half");
  EXPECT_TRUE(checked.passed());
  EXPECT_EQ(checked.rejected_by(), v1::BITS_WRITTEN);
  EXPECT_EQ(checked.detail(), "32 of 64 elements of `out` not written, first out[32]");
  EXPECT_EQ(checked.summary(), "leaves half of the output");
}

}  // namespace
}  // namespace assay::profiler
