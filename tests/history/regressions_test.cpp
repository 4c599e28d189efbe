#include "history/regressions.h"

#include "tests/history/made_up_runs.h"

#include <gtest/gtest.h>

namespace assay::history {
namespace {

using State = RegressionState;

TEST(Regressions, AChangeToSlowerIsDetectedAndToFasterIsNone) {
  const auto slower = regressions_in(series_of({{10, 1000, "a"}, {5, 1100, "b"}}));
  ASSERT_EQ(slower.size(), 1);
  EXPECT_EQ(slower[0].state, State::kDetected);
  EXPECT_EQ(slower[0].experiment_id, 11);
  EXPECT_EQ(slower[0].code_digest, "b");
  EXPECT_EQ(slower[0].old_level_ns, 1000);
  EXPECT_EQ(slower[0].new_level_ns, 1100);
  EXPECT_EQ(slower[0].num_old_runs, 10);
  EXPECT_NEAR(slower[0].ratio, 1.1, 1e-12);
  EXPECT_EQ(
      slower[0].reason,
      "detected: from experiment 11 on a run takes 1.1 of the time before (1.1 to 1.1, coverage "
      "99.2 %), beyond the bar of 1.00 %; the code changed with it");
  EXPECT_TRUE(regressions_in(series_of({{10, 1000, "a"}, {5, 900, "b"}})).empty());
}

TEST(Regressions, TheReasonSaysWhereTheCodeDidNotChange) {
  const auto same = regressions_in(series_of({{10, 1000, "a"}, {5, 1100, "a"}}));
  EXPECT_NE(same[0].reason.find("the cause is elsewhere"), std::string::npos);
  const auto unknown = regressions_in(series_of({{10, 1000, ""}, {5, 1100, "b"}}));
  EXPECT_NE(unknown[0].reason.find("is not known"), std::string::npos);
}

TEST(Regressions, ATimeThatIsNoneIsRefusedByItsIndex) {
  const auto series = series_of({{10, 1000, "a"}, {1, 0, "a"}});
  EXPECT_EQ(find_changes(series).status().message(), "series[10].median_ns: must be above 0, is 0");
}

TEST(Regressions, RejectedRunsHaveNoTimeAndIndexesStayThoseOfTheSeries) {
  auto series = series_of({{5, 1000, "a"}, {2, 0, "x"}, {5, 1000, "a"}, {4, 1100, "b"}});
  series[5].rejected = series[6].rejected = true;
  const Changes changes = find_changes(series).value();
  ASSERT_EQ(changes.change_points.size(), 1);
  EXPECT_EQ(changes.change_points[0].first, 12);
  EXPECT_EQ(changes.segments[0].last, 11);
  EXPECT_EQ(update({}, series, changes).at(0).num_old_runs, 10);
}

TEST(Regressions, TheSameSeriesAgainChangesNothing) {
  const auto series = series_of({{10, 1000, "a"}, {5, 1100, "b"}, {5, 1300, "c"}});
  const auto first = regressions_in(series);
  ASSERT_EQ(first.size(), 2);
  const auto second = regressions_in(series, first);
  ASSERT_EQ(second.size(), 2);
  for (const std::size_t index : {0, 1}) {
    EXPECT_EQ(second[index].experiment_id, first[index].experiment_id);
    EXPECT_EQ(second[index].state, State::kDetected);
    EXPECT_EQ(second[index].reason, first[index].reason);
  }
}

TEST(Regressions, AChangeThatMovesALittleIsTheSameAndOneFartherOffIsAnother) {
  const auto series = series_of({{10, 1000, "a"}, {10, 1100, "b"}});
  auto stored = regressions_in(series);
  stored[0].state = State::kConfirmed;
  stored[0].experiment_id = 16;
  const auto near = regressions_in(series, stored);
  ASSERT_EQ(near.size(), 1);
  EXPECT_EQ(near[0].experiment_id, 11);
  EXPECT_EQ(near[0].state, State::kConfirmed);
  stored[0].experiment_id = 17;
  EXPECT_EQ(regressions_in(series, stored).size(), 2);
}

TEST(Regressions, ADetectedOneThatLaterRunsTakeBackIsRefuted) {
  auto stored = regressions_in(series_of({{10, 1000, "a"}, {3, 1100, "b"}}));
  ASSERT_EQ(stored.size(), 1);
  const auto later = series_of({{10, 1000, "a"}, {3, 1100, "b"}, {6, 1000, "b"}});
  const auto refuted = regressions_in(later, stored);
  ASSERT_EQ(refuted.size(), 1);
  EXPECT_EQ(refuted[0].state, State::kRefuted);
  EXPECT_EQ(refuted[0].reason,
            "refuted: with the runs since then there is no change at experiment 11");
  for (const State state : {State::kConfirmed, State::kAcknowledged, State::kFixed}) {
    stored[0].state = state;
    EXPECT_EQ(regressions_in(later, stored)[0].state, state);
  }
  stored[0].state = State::kUnconfirmable;
  EXPECT_EQ(regressions_in(later, stored)[0].state, State::kRefuted);
}

TEST(Regressions, ALaterLevelBackAtTheOldOneFixesIt) {
  const auto before = series_of({{10, 1000, "a"}, {6, 1100, "b"}});
  const auto after = series_of({{10, 1000, "a"}, {6, 1100, "b"}, {4, 1004, "c"}});
  for (const State state :
       {State::kDetected, State::kConfirmed, State::kUnconfirmable, State::kAcknowledged}) {
    auto stored = regressions_in(before);
    stored[0].state = state;
    const auto fixed = regressions_in(after, stored);
    ASSERT_EQ(fixed.size(), 1);
    EXPECT_EQ(fixed[0].state, State::kFixed);
    EXPECT_EQ(fixed[0].fixed_experiment_id, 17);
    EXPECT_EQ(fixed[0].reason,
              "fixed: from experiment 17 on a run takes 1.004 of the time before the regression");
  }
  // What was refuted has nothing to fix.
  auto stored = regressions_in(before);
  stored[0].state = State::kRefuted;
  EXPECT_EQ(regressions_in(after, stored)[0].state, State::kRefuted);
}

TEST(Regressions, FasterThanEverIsFixedAndHalfWayBackIsNot) {
  const auto faster = series_of({{10, 1000, "a"}, {6, 1100, "b"}, {4, 800, "c"}});
  EXPECT_EQ(regressions_in(faster)[0].state, State::kFixed);
  const auto half = series_of({{10, 1000, "a"}, {6, 1100, "b"}, {4, 1050, "c"}});
  EXPECT_EQ(regressions_in(half)[0].state, State::kDetected);
}

TEST(Regressions, SlowAgainAfterAFixIsARegressionOfItsOwn) {
  const auto series = series_of({{10, 1000, "a"}, {6, 1100, "b"}, {6, 1000, "c"}, {6, 1100, "d"}});
  const auto regressions = regressions_in(series);
  ASSERT_EQ(regressions.size(), 2);
  EXPECT_EQ(regressions[0].state, State::kFixed);
  EXPECT_EQ(regressions[1].state, State::kDetected);
  EXPECT_EQ(regressions[1].experiment_id, 23);
}

TEST(Regressions, OneOfAPartThatIsNotReadStaysAsItWas) {
  const auto series = series_of({{10, 1000, "a"}, {1200, 1100, "b"}});
  Regression old;
  old.experiment_id = 11;
  Regression unknown;
  unknown.experiment_id = 99'999;
  const auto regressions = regressions_in(series, {old, unknown});
  ASSERT_EQ(regressions.size(), 2);
  EXPECT_EQ(regressions[0].state, State::kDetected);
  EXPECT_EQ(regressions[1].state, State::kDetected);
}

TEST(Regressions, AcknowledgingNeedsAReasonAndSomethingToAcknowledge) {
  Regression regression = regressions_in(series_of({{10, 1000, "a"}, {5, 1100, "b"}})).at(0);
  EXPECT_EQ(acknowledge(regression, "").status().message(), "reason: must not be empty");
  const Regression known = acknowledge(regression, "more accurate, and worth it").value();
  EXPECT_EQ(known.state, State::kAcknowledged);
  EXPECT_EQ(known.acknowledgement, "more accurate, and worth it");
  EXPECT_EQ(known.reason, "acknowledged: more accurate, and worth it");
  regression.state = State::kFixed;
  const auto status = acknowledge(regression, "late").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the regression at experiment 11 is fixed: nothing is left to acknowledge");
}

TEST(Regressions, AnAcknowledgementOutlivesTheFix) {
  const auto stored = regressions_in(series_of({{10, 1000, "a"}, {6, 1100, "b"}}));
  const Regression known = acknowledge(stored[0], "known").value();
  const auto after = series_of({{10, 1000, "a"}, {6, 1100, "b"}, {4, 1000, "c"}});
  const auto fixed = regressions_in(after, {known});
  EXPECT_EQ(fixed[0].state, State::kFixed);
  EXPECT_EQ(fixed[0].acknowledgement, "known");
}

}  // namespace
}  // namespace assay::history
