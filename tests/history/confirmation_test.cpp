#include "tests/history/made_up_runs.h"

#include <gtest/gtest.h>

namespace assay::history {
namespace {

// From experiment 11 on ten per cent slower.
class Confirmation : public testing::Test {
 protected:
  absl::StatusOr<Regression> confirmed_by(const std::vector<SeriesPoint>& again) const {
    return confirm(regression_, changes_, again);
  }

  static SeriesPoint again(std::int64_t median_ns, std::string code_digest = "new") {
    SeriesPoint run;
    run.experiment_id = 99;
    run.median_ns = median_ns;
    run.code_digest = std::move(code_digest);
    return run;
  }

  std::vector<SeriesPoint> series_ = series_of({{10, 1000, "old"}, {5, 1100, "new"}});
  Changes changes_ = find_changes(series_).value();
  Regression regression_ = update({}, series_, changes_).at(0);
};

TEST_F(Confirmation, ARunAtTheNewLevelConfirms) {
  const Regression regression = confirmed_by({again(1098)}).value();
  EXPECT_EQ(regression.state, RegressionState::kConfirmed);
  EXPECT_EQ(
      regression.reason,
      "confirmed: a run again takes 1.0980 of the old level and 0.9982 of the new one, beyond "
      "the old level's noise of 1.00 %");
}

TEST_F(Confirmation, ARunAtTheOldLevelRefutes) {
  const Regression regression = confirmed_by({again(1005)}).value();
  EXPECT_EQ(regression.state, RegressionState::kRefuted);
  EXPECT_EQ(regression.reason,
            "refuted: a run again takes 1.0050 of the old level and 0.9136 of the new one, within "
            "the old level's noise of 1.00 %");
}

TEST_F(Confirmation, ARunInBetweenLeavesItDetected) {
  const Regression regression = confirmed_by({again(1040)}).value();
  EXPECT_EQ(regression.state, RegressionState::kDetected);
  EXPECT_EQ(regression.reason,
            "still detected: a run again takes 1.0400 of the old level and 0.9455 of the new one, "
            "which a noise of 1.00 % leaves open");
}

TEST_F(Confirmation, ARunFasterThanBothLevelsLeavesItDetected) {
  const Regression regression = confirmed_by({again(900)}).value();
  EXPECT_EQ(regression.state, RegressionState::kDetected);
  EXPECT_NE(regression.reason.find("faster than either level"), std::string::npos);
}

TEST_F(Confirmation, TheMedianOfSeveralRunsCounts) {
  EXPECT_EQ(confirmed_by({again(1101), again(1000), again(1099)})->state,
            RegressionState::kConfirmed);
  EXPECT_EQ(confirmed_by({again(1100), again(1000), again(1001)})->state,
            RegressionState::kRefuted);
}

TEST_F(Confirmation, AnotherCodeSaysNothing) {
  const Regression regression = confirmed_by({again(1100), again(1100, "newer")}).value();
  EXPECT_EQ(regression.state, RegressionState::kUnconfirmable);
  EXPECT_EQ(regression.reason, "unconfirmable: the code of that run is no longer at hand");
  // The same code may turn up later.
  EXPECT_EQ(confirm(regression, changes_, std::vector{again(1100)})->state,
            RegressionState::kConfirmed);
}

TEST_F(Confirmation, UnknownCodeSaysNothing) {
  EXPECT_EQ(confirmed_by({again(1100, "")})->reason,
            "unconfirmable: no digest says whether it is the same code");
  regression_.code_digest = "";
  EXPECT_EQ(confirmed_by({again(1100, "")})->state, RegressionState::kUnconfirmable);
}

TEST_F(Confirmation, ARejectedRunHasNoTimeToCompare) {
  SeriesPoint run = again(1100);
  run.rejected = true;
  EXPECT_EQ(confirmed_by({run})->reason, "unconfirmable: the run was rejected and has no time");
}

TEST_F(Confirmation, WithoutARunOrATimeItIsRefused) {
  EXPECT_EQ(confirmed_by({}).status().message(), "again: must have at least one run");
  EXPECT_EQ(confirmed_by({again(1100), again(0)}).status().message(),
            "again[1].median_ns: must be above 0, is 0");
}

TEST_F(Confirmation, WhatIsDecidedIsNotRunAgain) {
  regression_.state = RegressionState::kConfirmed;
  const auto status = confirmed_by({again(1100)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the regression at experiment 11 is confirmed: only a detected one is run again");
}

TEST_F(Confirmation, UnderNoiseItSaysHowManyRunsWouldTell) {
  changes_.noise = 0.03;
  const Regression regression = confirmed_by({again(1050)}).value();
  EXPECT_EQ(regression.state, RegressionState::kDetected);
  EXPECT_NE(regression.reason.find("; 4 runs would tell the levels apart"), std::string::npos)
      << regression.reason;
  changes_.noise = 0.2;
  EXPECT_NE(confirmed_by({again(1050)})->reason.find("too near to each other"), std::string::npos);
}

}  // namespace
}  // namespace assay::history
