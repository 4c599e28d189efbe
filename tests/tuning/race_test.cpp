#include "tuning/race.h"

#include <cmath>
#include <string>

namespace assay::tuning {
namespace {

v1::Arm arm(const std::string& name) {
  v1::Arm arm;
  arm.set_variant(name);
  return arm;
}

// `name` judged against `against`: the ratio, give or take `width` of it, by a bar of 1 %.
v1::Configuration judged(const std::string& name,
                         const std::string& against,
                         double ratio,
                         double width,
                         v1::VerdictKind kind) {
  v1::Configuration configuration;
  *configuration.mutable_baseline_arm() = arm(against);
  *configuration.mutable_candidate_arm() = arm(name);
  configuration.set_outcome(v1::FINISHED);
  configuration.mutable_baseline();
  configuration.mutable_candidate();
  v1::Verdict& verdict = *configuration.add_verdicts();
  verdict.set_verdict(kind);
  v1::StageVerdict& total = *verdict.add_stages();
  total.set_stage("total");
  total.set_has_ratio(width > 0);
  total.set_ratio(ratio);
  total.set_ratio_low(ratio * (1 - width));
  total.set_ratio_high(ratio * (1 + width));
  total.set_bar(0.01);
  total.set_baseline_median_ns(1'000'000);
  total.set_candidate_median_ns(std::llround(1'000'000 * ratio));
  return configuration;
}

v1::Configuration failed(v1::Outcome outcome, v1::BitsCheck check = v1::BITS_CHECK_UNSPECIFIED) {
  v1::Configuration configuration = judged("f", "a", 0.1, 0.01, v1::REJECTED);
  configuration.set_outcome(outcome);
  configuration.mutable_candidate()->mutable_bits()->set_failed(check);
  return configuration;
}

TEST(Race, HasNoWinnerWhereNothingMayRank) {
  Race race;
  race.add(failed(v1::CRASHED));
  race.add(failed(v1::FINISHED, v1::BITS_EQUAL));
  EXPECT_EQ(race.incumbent(), nullptr);
  EXPECT_FALSE(race.last_cost().has_value());
  const RaceResult result = race.result();
  EXPECT_FALSE(result.winner.has_value());
  EXPECT_EQ(result.num_failed, 2U);
}

TEST(Race, ClassesFailures) {
  EXPECT_EQ(failure_of(failed(v1::CRASHED)), v1::RUNTIME);
  EXPECT_EQ(failure_of(failed(v1::BAD_FRAME)), v1::RUNTIME);
  EXPECT_EQ(failure_of(failed(v1::TIMED_OUT)), v1::TIMEOUT);
  EXPECT_EQ(failure_of(failed(v1::REFUSED)), v1::CONSTRAINTS);
  v1::Configuration refused = failed(v1::REFUSED);
  refused.set_failure(v1::COMPILE);
  EXPECT_EQ(failure_of(refused), v1::COMPILE);
  EXPECT_EQ(failure_of(failed(v1::FINISHED, v1::BITS_FINISHED)), v1::LAUNCH);
  v1::Configuration exhausted = failed(v1::FINISHED, v1::BITS_FINISHED);
  exhausted.mutable_candidate()->mutable_bits()->set_failure(v1::RESOURCES);
  EXPECT_EQ(failure_of(exhausted), v1::RESOURCES);
  for (const v1::BitsCheck check : {v1::BITS_WRITTEN, v1::BITS_INPUTS, v1::BITS_TOLERANCE}) {
    EXPECT_EQ(failure_of(failed(v1::FINISHED, check)), v1::WRONG_OUTPUT);
  }
  for (const v1::BitsCheck check :
       {v1::BITS_REPEATABLE, v1::BITS_EQUAL, v1::BITS_GOLDEN, v1::BITS_TIMED_LAUNCH}) {
    EXPECT_EQ(failure_of(failed(v1::FINISHED, check)), v1::BIT_DRIFT);
  }
  EXPECT_EQ(failure_of(failed(v1::FINISHED)), v1::FAILURE_CLASS_UNSPECIFIED);
}

TEST(Race, LetsTheFirstStayUnlessAnotherIsFasterBeyondTheNoise) {
  Race race;
  race.add(judged("a", "base", 2.0, 0.001, v1::SLOWER));
  EXPECT_EQ(race.incumbent()->variant(), "a");
  race.add(judged("b", "a", 0.995, 0.001, v1::SAME));
  race.add(judged("c", "a", 0.97, 0.05, v1::UNDECIDED));
  EXPECT_EQ(race.incumbent()->variant(), "a");
  const RaceResult result = race.result();
  EXPECT_EQ(result.entries[*result.winner].arm.variant(), "a");
  EXPECT_EQ(result.entries[1].standing, Standing::kTied);
  EXPECT_EQ(result.entries[2].standing, Standing::kTied);
  EXPECT_NEAR(result.ratio, 2.0, 1e-9);
}

TEST(Race, TellsTheNoiseOfThoseThatTied) {
  Race race;
  // The way from the arm that the race began with is no noise of the winner.
  v1::Configuration first = judged("a", "base", 0.1, 0.001, v1::FASTER);
  first.mutable_verdicts(0)->mutable_stages(0)->set_bar(8.0);
  race.add(first);
  EXPECT_EQ(race.result().noise, 8.0);
  race.add(judged("b", "a", 1.5, 0.001, v1::SLOWER));
  EXPECT_EQ(race.result().noise, 0.01);
  v1::Configuration tied = judged("c", "a", 1.01, 0.001, v1::SAME);
  tied.mutable_verdicts(0)->mutable_stages(0)->set_bar(0.03);
  race.add(tied);
  EXPECT_EQ(race.result().noise, 0.03);
}

TEST(Race, AddsIntervalsWhereTheIncumbentChanged) {
  Race race;
  race.add(judged("a", "base", 1.0, 0.001, v1::SAME));
  race.add(judged("b", "a", 1.005, 0.001, v1::SAME));
  race.add(judged("c", "a", 0.5, 0.001, v1::FASTER));
  race.add(judged("d", "c", 1.2, 0.001, v1::SLOWER));
  const RaceResult result = race.result();
  EXPECT_EQ(result.entries[*result.winner].arm.variant(), "c");
  EXPECT_NEAR(result.ratio, 0.5, 1e-9);
  EXPECT_NEAR(result.ratio_low, 0.999 * 0.4995, 1e-9);
  const RaceEntry& first = result.entries[0];
  EXPECT_NEAR(first.ratio, 2.0, 1e-9);
  EXPECT_NEAR(first.ratio_low, 1 / 0.5005, 1e-9);
  const RaceEntry& second = result.entries[1];
  EXPECT_NEAR(second.ratio, 2.01, 1e-9);
  EXPECT_NEAR(second.ratio_high, 1.005 * 1.001 / 0.4995, 1e-9);
  EXPECT_EQ(second.standing, Standing::kBehind);
  EXPECT_EQ(result.entries[3].standing, Standing::kBehind);
  EXPECT_NEAR(*race.last_cost(), 1'000'000 * 0.5 * 1.2, 1.0);
}

TEST(Race, TellsWhatWasDroppedFromWhatCouldNotBeTimed) {
  Race race;
  race.add(judged("a", "base", 1.0, 0.001, v1::SAME));
  v1::Configuration dropped = judged("b", "a", 1.5, 0, v1::UNDECIDED);
  dropped.set_stopped_because(std::string(kDropReason) + "at least 5 % slower");
  race.add(dropped);
  race.add(judged("c", "a", 1.001, 0, v1::UNDECIDED));
  const RaceResult result = race.result();
  EXPECT_EQ(result.entries[1].standing, Standing::kDropped);
  EXPECT_EQ(result.entries[1].message, "at least 5 % slower");
  EXPECT_NEAR(result.entries[1].ratio, 1.5, 1e-6);
  EXPECT_FALSE(result.entries[1].has_interval);
  EXPECT_EQ(result.entries[2].standing, Standing::kUnclear);
}

}  // namespace
}  // namespace assay::tuning
