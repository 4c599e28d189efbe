#include "client/exit_status.h"

#include "tests/client/fixtures.h"

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

TEST(ExitStatus, TellsWhatWasTypedWrongFromWhatWentWrong) {
  EXPECT_EQ(exit_status(absl::NotFoundError("")), 2);
  EXPECT_EQ(exit_status(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(exit_status(absl::UnavailableError("")), 1);
  EXPECT_EQ(exit_status(absl::OkStatus()), 0);
}

}  // namespace
}  // namespace assay::client
