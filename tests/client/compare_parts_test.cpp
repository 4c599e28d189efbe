#include "client/compare_parts.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(CompareParts, SaysOfControlsWithoutAFloorWhatTheyLacked) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_spec()->set_kind(v1::CALIBRATE);
  experiment.mutable_configurations()->RemoveLast();
  EXPECT_EQ(tail_of(text_of(experiment, Format::kTable), 1),
            "1 A/A control: 0 by statistics not the same code; noise floors stored: 1\n");
  v1::StageVerdict& total =
      *experiment.mutable_configurations(0)->mutable_verdicts(0)->mutable_stages(1);
  total.set_has_ratio(false);
  total.set_reason("undecided: insufficient samples (have 4, need 12) of whole rounds");
  EXPECT_EQ(tail_of(text_of(experiment, Format::kTable), 2),
            "0 A/A controls: 0 by statistics not the same code; noise floors stored: 0\n"
            "no noise floor stored for 1 workload: insufficient samples (have 4, need 12) of whole "
            "rounds; raise --budget, --rounds or --deadline\n");
}

}  // namespace
}  // namespace assay::client
