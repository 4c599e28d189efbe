#include "client/exit_status.h"

#include "tests/client/fixtures.h"
#include "tests/client/sweep_fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

v1::Experiment with_verdicts(std::initializer_list<v1::VerdictKind> kinds) {
  v1::Experiment experiment;
  experiment.set_state(v1::DONE);
  for (const v1::VerdictKind kind : kinds) {
    v1::Configuration& configuration = *experiment.add_configurations();
    configuration.set_outcome(v1::FINISHED);
    configuration.mutable_candidate_arm()->set_variant("two_cell");
    *configuration.add_verdicts() = made_up_verdict(kind, 1.0, "");
  }
  experiment.set_num_configurations(static_cast<std::uint32_t>(kinds.size()));
  experiment.set_num_finished(experiment.num_configurations());
  return experiment;
}

constexpr FailOn kNothing;
constexpr FailOn kBoth{.slower = true, .undecided = true};

TEST(ExitStatus, RefusesAnUnknownFailOn) {
  EXPECT_TRUE(absl::IsInvalidArgument(parse_fail_on({"slower", "faster"}).status()));
}

TEST(ExitStatus, FailsForWhatWasNotCarriedOutBeforeAnythingElse) {
  v1::Experiment experiment = with_verdicts({v1::REJECTED, v1::SLOWER});
  experiment.set_state(v1::CANCELLED);
  EXPECT_EQ(exit_status(experiment, kBoth), 1);
  experiment.set_state(v1::DONE);
  EXPECT_EQ(exit_status(experiment, kBoth), 3);
  experiment.mutable_configurations(1)->set_outcome(v1::CRASHED);
  EXPECT_EQ(exit_status(experiment, kBoth), 1);
}

TEST(ExitStatus, CountsSlowerAndUndecidedOnlyWhenAsked) {
  const v1::Experiment experiment = with_verdicts({v1::UNDECIDED, v1::SLOWER, v1::FASTER});
  EXPECT_EQ(exit_status(experiment, kNothing), 0);
  EXPECT_EQ(exit_status(experiment, kBoth), 4);
  EXPECT_EQ(exit_status(experiment, {.undecided = true}), 5);
}

TEST(ExitStatus, FailsForACalibrationThatStoredNoFloor) {
  v1::Experiment experiment = with_verdicts({v1::SAME, v1::UNDECIDED});
  experiment.mutable_spec()->set_kind(v1::CALIBRATE);
  EXPECT_EQ(exit_status(experiment, kNothing), 0);
  experiment.mutable_configurations(1)->mutable_verdicts(0)->mutable_stages(1)->set_has_ratio(
      false);
  EXPECT_EQ(exit_status(experiment, kNothing), 1);
  experiment.mutable_spec()->set_kind(v1::COMPARE);
  EXPECT_EQ(exit_status(experiment, kNothing), 0);
}

TEST(ExitStatus, CountsTheNewestVerdictOnly) {
  v1::Experiment experiment = with_verdicts({v1::SLOWER});
  *experiment.mutable_configurations(0)->add_verdicts() = made_up_verdict(v1::SAME, 1.0, "");
  EXPECT_EQ(exit_status(experiment, kBoth), 0);
}

TEST(ExitStatus, FailsForASurvivingMutantAndADifferingCase) {
  v1::Experiment experiment = made_up_check();
  EXPECT_EQ(exit_status(experiment, kNothing), 0);
  experiment.mutable_configurations(3)->mutable_check()->set_passed(false);
  EXPECT_EQ(exit_status(experiment, kNothing), 3);
}

TEST(ExitStatus, FailsForASweepOfWhichAWorkloadHasNoWinner) {
  v1::Experiment sweep = made_up_sweep();
  add_try(sweep, "64", "1", v1::FASTER, 0.9);
  EXPECT_EQ(exit_status(sweep, kNothing), 0);
  add_failed(sweep, "128", "1", v1::COMPILE, "");
  EXPECT_EQ(exit_status(sweep, kNothing), 1);
  add_try(sweep, "128", "2", v1::UNDECIDED, 1.0);
  EXPECT_EQ(exit_status(sweep, kNothing), 0);
  sweep.set_state(v1::CANCELLED);
  EXPECT_EQ(exit_status(sweep, kNothing), 1);
}

TEST(ExitStatus, RejectsASweepForOtherBitsButNotForWhatCannotBeHad) {
  for (const v1::FailureClass failure : {v1::COMPILE,
                                         v1::RESOURCES,
                                         v1::LAUNCH,
                                         v1::TIMEOUT,
                                         v1::RUNTIME,
                                         v1::WRONG_OUTPUT,
                                         v1::BIT_DRIFT,
                                         v1::CONSTRAINTS}) {
    v1::Experiment sweep = made_up_sweep();
    add_try(sweep, "64", "1", v1::FASTER, 0.9);
    add_failed(sweep, "64", "2", failure, "");
    const bool is_rejected = failure == v1::WRONG_OUTPUT || failure == v1::BIT_DRIFT;
    EXPECT_EQ(exit_status(sweep, kNothing), is_rejected ? 3 : 0) << v1::FailureClass_Name(failure);
  }
}

TEST(ExitStatus, TakesTheStepsOfASweepForNoVerdict) {
  v1::Experiment sweep = made_up_sweep();
  add_try(sweep, "64", "1", v1::UNDECIDED, 1.0);
  add_try(sweep, "64", "2", v1::SLOWER, 1.2);
  EXPECT_EQ(exit_status(sweep, kBoth), 0);
}

TEST(ExitStatus, TellsWhatWasTypedWrongFromWhatWentWrong) {
  EXPECT_EQ(exit_status(absl::NotFoundError("")), 2);
  EXPECT_EQ(exit_status(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(exit_status(absl::UnavailableError("")), 1);
  EXPECT_EQ(exit_status(absl::OkStatus()), 0);
}

}  // namespace
}  // namespace assay::client
