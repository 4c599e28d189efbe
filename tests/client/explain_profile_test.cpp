#include "client/explain_profile.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

std::string facts_of(const v1::Configuration& configuration) {
  Report report;
  add_profile_facts(report, configuration);
  return report_text(report, Format::kTable);
}

TEST(ExplainProfile, SaysNothingOfPassesThatWereNotMade) {
  EXPECT_EQ(facts_of(v1::Configuration()), "");
  EXPECT_TRUE(kernel_table(v1::Configuration()).rows.empty());
}

TEST(ExplainProfile, TellsHowTheDeviceWasAndWhatOtherPassesFound) {
  EXPECT_EQ(
      facts_of(made_up_profile().configurations(0)),
      "timing           cuda events, graph, cold (4 input sets)\n"
      "admission        A stable after 350 ms at 1,980 of 1,980 MHz, B not stable after 5.0 s "
      "(clock still rises)\n"
      "other processes  B in 2 of 12 blocks (at most 3)\n"
      "by events        A 2,100 us\n"
      "kernels          A 1,500 us of 2,000 us end to end (75 %)\n");
}

TEST(ExplainProfile, NamesNoArmThatIsAlone) {
  v1::Configuration alone = made_up_profile().configurations(0);
  alone.clear_candidate();
  alone.clear_candidate_arm();
  EXPECT_NE(facts_of(alone).find("by events  2,100 us\n"), std::string::npos) << facts_of(alone);
  EXPECT_EQ(kernel_table(alone).columns.front().name, "stage");
}

TEST(ExplainProfile, ShowsEveryKernelAndWhetherBothArmsHaveIt) {
  const std::string text = aligned_text(kernel_table(made_up_profile().configurations(0)));
  EXPECT_EQ(text,
            "arm  stage  kernel        registers    shared bytes  local bytes     grid  block  "
            "blocks an SM  occupancy  code      in both arms\n"
            "A    chunk  chunk_kernel        128  1,024 + 65,536           16  132 x 2    256  "
            "           2       25 %  01234567  yes\n"
            "B    chunk  chunk_kernel        128  1,024 + 65,536           16  132 x 2    256  "
            "           2       25 %  01234567  yes\n"
            "B    merge  merge_kernel         32           0 + 0            0        4     64  "
            "           -          -  89abcdef  no\n");
}

TEST(ExplainProfile, StandsInTheExplanationWithCycles) {
  v1::Experiment experiment = made_up_profile();
  experiment.mutable_configurations(0)->mutable_verdicts(0)->set_baseline_sm_clock_mhz(1'500);
  const std::string text = explanation_text(experiment, Format::kTable);
  EXPECT_NE(text.find("A cycles "), std::string::npos) << text;
  EXPECT_NE(text.find("3,000,000"), std::string::npos) << text;
  EXPECT_EQ(text.find("B cycles "), std::string::npos) << text;
  EXPECT_NE(text.find("\nadmission "), std::string::npos) << text;
  EXPECT_NE(text.find("\nB    merge  merge_kernel"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::client
