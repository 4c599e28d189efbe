#include "profiler/bits_verdict.h"

#include "profiler/verdict.h"
#include "tests/profiler/scripted.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace assay::profiler {
namespace {

// The candidate is half as long, so that any slip of the gate would read "faster".
v1::Configuration twice_as_fast() {
  v1::Configuration configuration = equal_arms();
  add_rounds(&configuration, 12, [](const Call& call) {
    return call.arm == ArmRole::kBaseline ? 200'000 : 100'000;
  });
  return configuration;
}

v1::Drift sign_of_zero() {
  v1::Drift drift;
  drift.set_tensor("out");
  drift.set_num_elements(1024);
  drift.set_num_differing(3);
  drift.add_first_index(0);
  drift.add_first_index(17);
  drift.set_expected_bits("0x00000000");
  drift.set_found_bits("0x80000000");
  drift.set_expected_value("0");
  drift.set_found_value("-0");
  drift.set_drift_class(v1::SIGN_OF_ZERO);
  return drift;
}

// Rejected verdicts have no ratio in any stage and are final.
void expect_rejected(const v1::Verdict& verdict, v1::BitsCheck check, const std::string& reason) {
  EXPECT_EQ(verdict.verdict(), v1::REJECTED);
  EXPECT_EQ(verdict.statistical_verdict(), v1::NOT_JUDGED);
  EXPECT_EQ(verdict.rejected_by(), check);
  EXPECT_EQ(verdict.reason(), reason);
  EXPECT_FALSE(wants_more_rounds(verdict));
  for (const v1::StageVerdict& stage : verdict.stages()) {
    EXPECT_FALSE(stage.has_ratio());
    EXPECT_EQ(stage.verdict(), v1::NOT_JUDGED);
  }
}

TEST(BitsVerdict, LetsEqualBitsPass) {
  const v1::Verdict verdict = judge(twice_as_fast(), {});
  EXPECT_EQ(verdict.verdict(), v1::FASTER) << verdict.reason();
  EXPECT_TRUE(verdict.bits_equal());
  EXPECT_EQ(verdict.rejected_by(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST(BitsVerdict, RejectsWhatDidNotFinish) {
  v1::Configuration configuration = twice_as_fast();
  configuration.set_outcome(v1::TIMED_OUT);
  configuration.set_message("open: after 120 s");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_FINISHED,
                  "rejected: it did not finish: the runner was killed at its deadline: open: after "
                  "120 s");
  configuration.set_outcome(v1::REFUSED);
  EXPECT_EQ(judge(configuration, {}).verdict(), v1::NOT_JUDGED);
}

TEST(BitsVerdict, RejectsOtherDigestsWhateverTheRunnerSays) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->mutable_outputs(0)->set_digest("ff");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_EQUAL,
                  "rejected: its bits are not the baseline's: the digests of `out` differ");
}

TEST(BitsVerdict, ShowsTheFirstDifferingElement) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->mutable_outputs(0)->set_digest("ff");
  *configuration.mutable_candidate()->mutable_bits()->mutable_drift() = sign_of_zero();
  configuration.mutable_candidate()->mutable_bits()->set_failed(v1::BITS_EQUAL);
  expect_rejected(judge(configuration, {}),
                  v1::BITS_EQUAL,
                  "rejected: its bits are not the baseline's: 3 of 1,024 elements of `out` differ, "
                  "first out[0, 17]: expected 0x00000000 (0), found 0x80000000 (-0), sign of zero "
                  "only");
}

TEST(BitsVerdict, AsksInOrder) {
  v1::Configuration configuration = twice_as_fast();
  v1::BitsReport* bits = configuration.mutable_candidate()->mutable_bits();
  bits->set_failed(v1::BITS_TIMED_LAUNCH);
  EXPECT_EQ(judge(configuration, {}).rejected_by(), v1::BITS_TIMED_LAUNCH);
  bits->set_tolerance_known(true);
  bits->set_tolerance_used(1.5);
  bits->set_tolerance_place("out[3]");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_TOLERANCE,
                  "rejected: it is out of tolerance: worst share of the tolerance 1.500 at out[3]");
  configuration.mutable_candidate()->mutable_outputs(0)->set_digest("ff");
  EXPECT_EQ(judge(configuration, {}).rejected_by(), v1::BITS_EQUAL);
  bits->set_num_digests(2);
  bits->set_num_runs(3);
  expect_rejected(judge(configuration, {}),
                  v1::BITS_REPEATABLE,
                  "rejected: it is not deterministic (2 digests in 3 runs)");
  bits->set_failed(v1::BITS_WRITTEN);
  bits->set_detail("512 of 1,024 elements of `out` not written");
  expect_rejected(
      judge(configuration, {}),
      v1::BITS_WRITTEN,
      "rejected: it did not read and write exactly its tensors: 512 of 1,024 elements of `out` not "
      "written");
}

TEST(BitsVerdict, CallsAToleranceThatIsNoNumberFailed) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->mutable_bits()->set_tolerance_known(true);
  configuration.mutable_candidate()->mutable_bits()->set_tolerance_used(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(judge(configuration, {}).rejected_by(), v1::BITS_TOLERANCE);
}

TEST(BitsVerdict, JudgesNothingAgainstABaselineThatIsNotDeterministic) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->mutable_outputs(0)->set_digest("ff");
  configuration.mutable_baseline()->mutable_bits()->set_num_digests(7);
  configuration.mutable_baseline()->mutable_bits()->set_num_runs(20);
  const v1::Verdict verdict = judge(configuration, {});
  expect_rejected(verdict,
                  v1::BITS_REPEATABLE,
                  "nothing was judged, the baseline `one_cell` failed its own checks: it is not "
                  "deterministic (7 digests in 20 runs)");
  EXPECT_TRUE(verdict.rejected_baseline());
}

TEST(BitsVerdict, RejectsAnotherFamilyAndStillReportsItsOwnChecks) {
  v1::Configuration configuration = twice_as_fast();
  v1::Measurement* candidate = configuration.mutable_candidate();
  candidate->set_family("hw_exp");
  candidate->mutable_bits()->set_tolerance_known(true);
  candidate->mutable_bits()->set_tolerance_used(0.125);
  candidate->mutable_bits()->set_tolerance_place("out[0, 3]");
  *candidate->mutable_bits()->mutable_drift() = sign_of_zero();
  JudgeOptions options;
  options.golden = "reproduced";
  const v1::Verdict verdict = judge(configuration, options);
  expect_rejected(
      verdict,
      v1::BITS_EQUAL,
      "rejected: its bits are not the baseline's: 3 of 1,024 elements of `out` differ, "
      "first out[0, 17]: expected 0x00000000 (0), found 0x80000000 (-0), sign of zero "
      "only; it belongs to the bit family `hw_exp` and is judged by its own golden "
      "(reproduced) and by tolerance (worst share of the tolerance 0.125 at out[0, 3])");
  EXPECT_FALSE(verdict.bits_equal());
  EXPECT_EQ(verdict.golden(), "reproduced");
}

TEST(BitsVerdict, RejectsAnotherFamilyEvenOfEqualBits) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->set_family("hw_exp");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_EQUAL,
                  "rejected: it belongs to the bit family `hw_exp`, which is not measured against "
                  "the baseline's, though here the digests are equal");
}

TEST(BitsVerdict, SaysOnceHowManyDigestsThereWere) {
  v1::Configuration configuration = twice_as_fast();
  v1::BitsReport* bits = configuration.mutable_candidate()->mutable_bits();
  bits->set_failed(v1::BITS_REPEATABLE);
  bits->set_num_runs(3);
  bits->set_num_digests(2);
  bits->set_detail("2 digests in 3 runs");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_REPEATABLE,
                  "rejected: it is not deterministic: 2 digests in 3 runs");
}

TEST(BitsVerdict, BlamesTheBaselineWhenBothArmsMissTheGolden) {
  v1::Configuration configuration = twice_as_fast();
  JudgeOptions options;
  options.golden = "differs";
  options.golden_differs = true;
  const v1::Verdict verdict = judge(configuration, options);
  expect_rejected(verdict,
                  v1::BITS_GOLDEN,
                  "nothing was judged, the baseline `one_cell` failed its own checks: its bits are "
                  "not the accepted golden's");
  EXPECT_TRUE(verdict.rejected_baseline());
}

TEST(BitsVerdict, ComparesAFormWithoutAnIntermediateOnTheRest) {
  v1::Configuration configuration = twice_as_fast();
  v1::TensorDigest* partials = configuration.mutable_baseline()->add_outputs();
  partials->set_tensor("partials");
  partials->set_digest("aa");
  EXPECT_EQ(judge(configuration, {}).verdict(), v1::FASTER);
}

TEST(BitsVerdict, SaysNothingOfArmsWithoutACommonDigest) {
  v1::Configuration configuration = twice_as_fast();
  configuration.mutable_candidate()->clear_outputs();
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_EQ(verdict.statistical_verdict(), v1::NOT_JUDGED);
  EXPECT_FALSE(verdict.bits_equal());
}

TEST(BitsVerdict, RejectsAMeasuredArmThatFailsItsOwnChecks) {
  v1::Configuration configuration = twice_as_fast();
  configuration.clear_candidate();
  configuration.mutable_baseline()->mutable_bits()->set_failed(v1::BITS_INPUTS);
  configuration.mutable_baseline()->mutable_bits()->set_detail("`k` changed");
  expect_rejected(judge(configuration, {}),
                  v1::BITS_INPUTS,
                  "rejected: `one_cell` failed its checks: it changed its inputs: `k` changed");
}

TEST(BitsVerdict, RejectsAFailedCheckAndAGoldenThatDiffers) {
  v1::Configuration configuration;
  v1::CheckResult* check = configuration.mutable_check();
  check->set_suite("mutants");
  check->set_name("drops_last_cell");
  check->set_summary("survived");
  v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::REJECTED);
  EXPECT_EQ(verdict.reason(), "rejected: mutants/drops_last_cell failed: survived");
  check->set_passed(true);
  EXPECT_EQ(judge(configuration, {}).verdict(), v1::NOT_JUDGED);
  check->set_num_goldens_differing(1);
  check->set_first_golden_differing("parity/int8/17");
  verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::REJECTED);
  EXPECT_EQ(verdict.rejected_by(), v1::BITS_GOLDEN);
}

}  // namespace
}  // namespace assay::profiler
