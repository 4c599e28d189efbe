#include "client/report.h"
#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(CeilingReport, SaysWhyABenchHasNone) {
  v1::Experiment experiment = made_up_bench();
  experiment.set_state(v1::FAILED);
  experiment.set_message("the runner died");
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.clear_ceilings();
  configuration.set_outcome(v1::CRASHED);
  configuration.set_message("killed by signal 9");
  EXPECT_EQ(tail_of(text_of(experiment, Format::kTable), 2),
            "crashed: killed by signal 9\n"
            "experiment 7 failed: the runner died; 1 of 1 configurations finished\n");
}

TEST(CeilingReport, ShowsEveryCeilingInAUnitThatIsRead) {
  EXPECT_EQ(text_of(made_up_bench(), Format::kTable),
            "device      cpu (Made-up CPU)\n"
            "code        0.1.0+abc\n"
            "experiment  7\n"
            "\n"
            "ceiling               value  what it is\n"
            "read              4.62 TB/s  reading memory\n"
            "fp32           60.0 TFLOP/s  fused multiply-adds in fp32\n"
            "launch              2.31 us  a call that does nothing\n"
            "activity_cost       -0.12 %  what recording adds\n"
            "\n"
            "4 ceilings measured 2026-01-31 12:00:05\n");
  EXPECT_NE(text_of(made_up_bench(), Format::kMarkdown).find("| read          |    4.62 TB/s |"),
            std::string::npos);
}

TEST(CeilingReport, GivesRawValuesAsCsv) {
  EXPECT_EQ(tail_of(text_of(made_up_bench(), Format::kCsv), 1),
            "7,cpu,,activity_cost,-0.0012,share,what recording adds,1769860805000000000,,,\n");
}

}  // namespace
}  // namespace assay::client
