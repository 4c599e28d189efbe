#include "client/sweep_races.h"

#include "tests/client/sweep_fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(SweepRaces, AreNoneBeforeTheFirstConfiguration) {
  EXPECT_TRUE(races_of(made_up_sweep()).empty());
}

TEST(SweepRaces, BeginAnewWithEachWorkload) {
  v1::Experiment experiment = made_up_sweep();
  add_try(experiment, "64", "1", v1::FASTER, 0.9);
  add_try(experiment, "64", "2", v1::FASTER, 0.8);
  add_failed(experiment, "128", "1", v1::COMPILE, "line 3");
  add_try(experiment, "256", "4", v1::SLOWER, 1.1);
  const std::vector<WorkloadRace> races = races_of(experiment);
  ASSERT_EQ(races.size(), 3U);
  EXPECT_EQ(races[0].result.winner, 1U);
  EXPECT_NEAR(races[0].result.ratio, 0.72, 1e-9);
  EXPECT_EQ(races[1].result.winner, std::nullopt);
  EXPECT_EQ(races[1].result.num_failed, 1U);
  EXPECT_EQ(races[2].workload.axes(1).value(), "256");
  EXPECT_EQ(races[2].result.winner, 0U);
  EXPECT_EQ(races[2].result.baseline_arm.variant(), "one_cell");
}

TEST(SweepRaces, AreOverButForTheLastOneOfASweepThatIsNotDone) {
  v1::Experiment experiment = made_up_sweep();
  add_try(experiment, "64", "1", v1::FASTER, 0.9);
  add_try(experiment, "128", "1", v1::FASTER, 0.9);
  EXPECT_FALSE(races_of(experiment)[1].may_go_on);
  experiment.set_state(v1::INTERRUPTED);
  EXPECT_FALSE(races_of(experiment)[0].may_go_on);
  EXPECT_TRUE(races_of(experiment)[1].may_go_on);
}

}  // namespace
}  // namespace assay::client
