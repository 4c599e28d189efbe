#include "client/report.h"
#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(CheckReport, NeverEndsWithTheBareLinesWhenSomethingWentWrong) {
  v1::Experiment experiment = made_up_check();
  experiment.mutable_configurations(1)->mutable_check()->set_passed(false);
  experiment.mutable_configurations(1)->mutable_check()->set_num_goldens_differing(2);
  experiment.mutable_configurations(1)->mutable_check()->set_rejected_by(v1::BITS_GOLDEN);
  experiment.mutable_configurations(1)->mutable_check()->set_detail("golden differs: parity/x/3");
  experiment.mutable_configurations(1)->mutable_check()->set_first_golden_differing("parity/x/3");
  v1::CheckResult& survivor = *experiment.mutable_configurations(2)->mutable_check();
  survivor.set_passed(false);
  survivor.clear_rejected_by();
  experiment.mutable_configurations(3)->set_outcome(v1::TIMED_OUT);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("failed [1]"), std::string::npos) << text;
  EXPECT_NE(text.find("[1] 2 goldens differ, first parity/x/3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("drops_last_cell  SURVIVED"), std::string::npos) << text;
  EXPECT_EQ(tail_of(text, 4),
            "1 item could not be carried out\n"
            "parity: 1,168 cases, 0 differ, 1 item failed\n"
            "mutants: 0 of 2 rejected\n"
            "goldens: 1,168 of 1,170 reproduced, 2 differ\n");
}

TEST(CheckReport, ShowsTheFirstDifferenceOnce) {
  v1::Experiment experiment = made_up_check();
  v1::CheckResult& check = *experiment.mutable_configurations(2)->mutable_check();
  check.mutable_drift()->set_tensor("out");
  check.mutable_drift()->set_num_differing(12);
  check.mutable_drift()->set_found_bits("0x3f800001");
  EXPECT_NE(
      text_of(experiment, Format::kTable).find("12 elements differ; 12 of 0 elements of `out`"),
      std::string::npos);
  check.set_detail("12 elements differ, first found 0x3f800001");
  EXPECT_NE(text_of(experiment, Format::kTable).find("first found 0x3f800001\n"),
            std::string::npos);
}

TEST(CheckReport, SaysThatAnUnfinishedSuiteIsNotWhole) {
  v1::Experiment experiment = made_up_check();
  experiment.set_state(v1::INTERRUPTED);
  experiment.set_num_configurations(9);
  EXPECT_EQ(tail_of(text_of(experiment, Format::kTable), 4),
            "experiment 7 interrupted; 4 of 9 configurations finished\n"
            "parity: 1,168 cases, 0 differ so far\n"
            "mutants: 2 of 2 rejected so far\n"
            "goldens: 1,168 of 1,168 reproduced\n");
}

TEST(CheckReport, EndsWithTheLinesOfTheSuites) {
  EXPECT_EQ(text_of(made_up_check(), Format::kTable),
            "device      cpu (Made-up CPU)\n"
            "code        0.1.0+abc\n"
            "operator    qsa_decode\n"
            "suite       all\n"
            "seed        5\n"
            "experiment  7\n"
            "\n"
            "item         cases  differ  non-trivial  counts    result\n"
            "parity/fp16    584       0    3,588,096  fp16 584  passed\n"
            "parity/int8    584       0    3,588,096  int8 584  passed\n"
            "\n"
            "mutant           rejected by  what was seen\n"
            "drops_last_cell  bits differ  12 elements differ\n"
            "nibbles_swapped  bits differ  12 elements differ\n"
            "\n"
            "parity: 1,168 cases, 0 differ\n"
            "mutants: 2 of 2 rejected\n"
            "goldens: 1,168 of 1,168 reproduced\n");
}

TEST(CheckReport, CountsAnInvarianceThatDidNotRunNeitherAsHoldingNorAsFailing) {
  v1::Experiment experiment = made_up_check();
  add_made_up_item(experiment, "invariances", "alone_equals_batch", 24);
  v1::CheckResult& differs = add_made_up_item(experiment, "invariances", "padded_plan", 6);
  differs.set_passed(false);
  differs.set_num_differing(2);
  differs.set_detail("p=511, wide: 1 of 9 elements of `out` differ");
  differs.set_not_run("1 of 4 pairs: staged (no variant `staged`)");
  v1::CheckResult& elsewhere = add_made_up_item(experiment, "invariances", "one_warp", 0);
  elsewhere.set_not_run("3 of 3 pairs: staged (no variant `staged`)");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("invariance          pairs  differ  result\n"
                      "alone_equals_batch     24       0  holds\n"
                      "padded_plan             6       2  FAILS [1] [2]\n"
                      "one_warp                0       0  not run [3]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("[1] p=511, wide: 1 of 9 elements of `out` differ\n"
                      "[2] not run: 1 of 4 pairs: staged (no variant `staged`)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(tail_of(text, 5),
            "not run on this device: invariances/one_warp\n"
            "parity: 1,168 cases, 0 differ\n"
            "invariances: 1 of 2 hold\n"
            "mutants: 2 of 2 rejected\n"
            "goldens: 1,168 of 1,168 reproduced\n");
  experiment.mutable_configurations()->DeleteSubrange(4, 2);
  EXPECT_EQ(text_of(experiment, Format::kTable).find(" hold\n"), std::string::npos);
}

TEST(CheckReport, TellsOfArmsAndCasesOfASuiteThatWereLeftOut) {
  v1::Experiment experiment = made_up_check();
  experiment.mutable_configurations(0)->mutable_check()->set_not_run("avx2 (the host has none)");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("passed [1]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[1] not run: avx2 (the host has none)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("not run on this device"), std::string::npos) << text;
  EXPECT_NE(text_of(experiment, Format::kCsv).find(",avx2 (the host has none),"),
            std::string::npos);
}

TEST(CheckReport, ShowsTheWorstShareOfEveryBucketAndWarnsOfAnAlarm) {
  v1::Experiment experiment = made_up_check();
  for (const int item : {0, 1}) {
    v1::CheckResult& check = *experiment.mutable_configurations(item)->mutable_check();
    v1::ToleranceBucket& bucket = *check.add_tolerance_buckets();
    bucket.set_least_terms(1024);
    bucket.set_most_terms(2047);
    bucket.set_num_elements(600);
    bucket.set_tolerance_used(item == 0 ? 0.25 : 0.8125);
    check.set_tolerance_used(bucket.tolerance_used());
    check.set_tolerance_alarm(item == 1);
  }
  v1::ToleranceBucket& lone =
      *experiment.mutable_configurations(0)->mutable_check()->add_tolerance_buckets();
  lone.set_least_terms(1);
  lone.set_most_terms(1);
  lone.set_num_elements(3);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("         terms  elements  worst share of the tolerance  in\n"
                      "             1         3                             0  parity/fp16\n"
                      "1,024 to 2,047     1,200                         0.812  parity/int8\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(tail_of(text, 4),
            "warning: 1 item is above the operator's tolerance alarm, the worst parity/int8 at "
            "0.812 of the tolerance: more than the formats explain\n"
            "parity: 1,168 cases, 0 differ\n"
            "mutants: 2 of 2 rejected\n"
            "goldens: 1,168 of 1,168 reproduced\n");
  EXPECT_NE(text_of(experiment, Format::kJson).find("\"tolerance_alarm\": true"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::client
