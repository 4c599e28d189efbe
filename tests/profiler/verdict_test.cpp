#include "profiler/verdict.h"

#include "tests/profiler/scripted.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay::profiler {
namespace {

bool is_candidate(const Call& call) {
  return call.arm == ArmRole::kCandidate;
}

// The legs of every round as given, in order.
Duration legs(std::int64_t first, std::int64_t second, std::int64_t third) {
  return [=](const Call& call) { return call.leg == 0 ? first : call.leg == 1 ? second : third; };
}

v1::Configuration with_rounds(std::uint32_t num_rounds, const Duration& duration) {
  v1::Configuration configuration = equal_arms();
  add_rounds(&configuration, num_rounds, duration);
  return configuration;
}

bool says(const v1::Verdict& verdict, const std::string& text) {
  return verdict.reason().find(text) != std::string::npos;
}

TEST(Verdict, CallsAllZeroDurationsATimerThatIsNotUsable) {
  const v1::Verdict verdict = judge(with_rounds(12, [](const Call&) { return 0; }), {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(verdict, "zero-length samples: timer not usable")) << verdict.reason();
  EXPECT_FALSE(verdict.stages(0).has_ratio());
  EXPECT_FALSE(wants_more_rounds(verdict));
}

TEST(Verdict, NeverEndsWithoutAVerdictOnAlternatingDurations) {
  const v1::Configuration configuration =
      with_rounds(48, [](const Call& call) { return call.call % 2 == 0 ? 1'000 : 3'000; });
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_TRUE(std::isfinite(verdict.stages(0).ratio()));
  EXPECT_EQ(verdict.verdict(), v1::SAME) << verdict.reason();
}

TEST(Verdict, SaysHowManyRoundsAreMissing) {
  const v1::Verdict verdict = judge(with_rounds(11, legs(100'000, 100'000, 100'000)), {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(verdict, "insufficient samples (have 11, need 12)")) << verdict.reason();
  EXPECT_FALSE(verdict.stages(0).has_ratio());
  EXPECT_TRUE(wants_more_rounds(verdict));
}

TEST(Verdict, DropsRecordsWithoutALengthAndSaysSo) {
  v1::Configuration configuration = equal_arms();
  configuration.clear_candidate();
  v1::Block* block = configuration.mutable_baseline()->add_blocks();
  block->set_num_calls(3);
  v1::StageSamples* total = stage_of(configuration.mutable_baseline(), "total");
  for (const std::int64_t sample : {800, 0, -800}) {
    total->add_samples_ns(sample);
  }
  const v1::Verdict alone = judge(configuration, {});
  EXPECT_TRUE(says(alone, "incomplete: 2 invalid")) << alone.reason();
  EXPECT_EQ(alone.verdict(), v1::NOT_JUDGED);
}

TEST(Verdict, SurvivesOneInvalidRecordOfMany) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  stage_of(configuration.mutable_candidate(), "total")->set_samples_ns(5, 0);
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::FASTER);
  EXPECT_EQ(verdict.stages(0).candidate_median_ns(), 90'000);
  EXPECT_TRUE(says(verdict, "the candidate's result is incomplete: 1 invalid")) << verdict.reason();
  for (int i = 0; i < 10; ++i) {
    stage_of(configuration.mutable_candidate(), "total")->set_samples_ns(i * 20, -1);
  }
  const v1::Verdict faulty = judge(configuration, {});
  EXPECT_EQ(faulty.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(faulty, "11 of 480 samples of the candidate have no positive length"))
      << faulty.reason();
}

TEST(Verdict, RefusesAColdCallThatIsFasterThanTheBytesAllow) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 89'000 : 120'000; });
  for (v1::Measurement* arm :
       {configuration.mutable_baseline(), configuration.mutable_candidate()}) {
    arm->set_cache_mode(v1::COLD);
    arm->set_floor_ns(100'000);
  }
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(verdict, "faster than the device can read the bytes")) << verdict.reason();
  for (v1::Measurement* arm :
       {configuration.mutable_baseline(), configuration.mutable_candidate()}) {
    arm->set_cache_mode(v1::HOT);
  }
  EXPECT_EQ(judge(configuration, {}).verdict(), v1::FASTER);
}

TEST(Verdict, RefusesSamplesThatDoNotFitTheBlocks) {
  v1::Configuration configuration = with_rounds(12, legs(100'000, 100'000, 100'000));
  stage_of(configuration.mutable_baseline(), "total")->add_samples_ns(1);
  EXPECT_TRUE(says(judge(configuration, {}), "241 samples of the stage `total` for 240 calls"));
}

TEST(Verdict, NeverComparesDifferentSources) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  configuration.mutable_candidate()->set_timing_source(v1::CUDA_EVENTS);
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_EQ(verdict.reason(),
            "undecided: the arms' timing sources differ (steady clock and cuda events), which are "
            "never compared");
}

TEST(Verdict, CancelsALinearDriftWithinARound) {
  const v1::Verdict verdict = judge(with_rounds(12, legs(100'000, 101'000, 102'000)), {});
  const v1::StageVerdict& total = verdict.stages(0);
  EXPECT_EQ(verdict.verdict(), v1::SAME);
  EXPECT_TRUE(says(verdict, "no difference")) << verdict.reason();
  EXPECT_NEAR(total.ratio(), 1.0, 0.0005);
  EXPECT_EQ(total.baseline_median_ns(), 101'000);
  EXPECT_EQ(total.candidate_median_ns(), 101'000);
  EXPECT_NEAR(total.drift(), std::log(1.02), 1e-9);
}

TEST(Verdict, ClaimsNothingWhileTheLegsOfOneArmDiffer) {
  for (const std::int64_t baseline : {101'000, 114'018, 200'000, 50'000}) {
    const v1::Verdict verdict = judge(with_rounds(12, legs(100'000, baseline, 130'000)), {});
    EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
    EXPECT_TRUE(says(verdict, "unstable: the two B legs differ by 30.00 %")) << verdict.reason();
  }
  const v1::Verdict smaller = judge(with_rounds(12, legs(100'000, 107'000, 108'000)), {});
  EXPECT_EQ(smaller.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(smaller, "unstable: the two B legs differ by 8.00 %")) << smaller.reason();
}

TEST(Verdict, SeesTheOrderOfTheArmsInAb) {
  v1::Configuration configuration = equal_arms();
  add_rounds(
      &configuration,
      48,
      [](const Call& call) { return call.leg == 0 ? 100'000 : 104'000; },
      v1::AB);
  JudgeOptions options;
  options.schedule = v1::AB;
  const v1::Verdict verdict = judge(configuration, options);
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_NEAR(verdict.stages(0).drift(), std::log(1.04), 1e-9);
}

TEST(Verdict, JudgesAbAndAbba) {
  for (const v1::Schedule schedule : {v1::AB, v1::ABBA}) {
    v1::Configuration configuration = equal_arms();
    add_rounds(
        &configuration,
        12,
        [](const Call& call) { return is_candidate(call) ? 97'000 : 100'000; },
        schedule);
    JudgeOptions options;
    options.schedule = schedule;
    const v1::Verdict verdict = judge(configuration, options);
    EXPECT_EQ(verdict.verdict(), v1::FASTER) << verdict.reason();
    EXPECT_NEAR(verdict.stages(0).ratio(), 0.97, 1e-9);
  }
}

TEST(Verdict, SaysWhatAClaimRestsOn) {
  const v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 103'000 : 100'000; });
  v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::SLOWER);
  EXPECT_EQ(verdict.reason(),
            "slower: the candidate takes 1.0300 of the baseline's time (1.0300 to 1.0300, coverage "
            "99.95 %, 12 rounds), beyond the least effect of 1.00 %, the drift of 0.00 %; no A/A "
            "noise is stored");
  JudgeOptions options;
  options.noise_floor.emplace().set_noise_floor(0.02);
  verdict = judge(configuration, options);
  EXPECT_EQ(verdict.verdict(), v1::SLOWER);
  EXPECT_TRUE(says(verdict, "and the stored A/A noise of 2.00 %")) << verdict.reason();
  EXPECT_TRUE(verdict.has_noise_floor());
  options.noise_floor->set_noise_floor(0.04);
  options.noise_floor_stale = "it is 31 days old";
  verdict = judge(configuration, options);
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(verdict, "not beyond the stored A/A noise of 4.00 % (stale: it is 31 days old)"))
      << verdict.reason();
  EXPECT_EQ(verdict.noise_floor_stale(), "it is 31 days old");
  EXPECT_NEAR(verdict.stages(0).bar(), 0.04, 1e-9);
  EXPECT_EQ(verdict.stages(0).num_bad_blocks(), 0U);
  EXPECT_EQ(verdict.stages(0).num_good_blocks(), 36U);
  options.least_effect = 0.05;
  EXPECT_EQ(judge(configuration, options).verdict(), v1::SAME);
}

// Whoever reads the sentence beside the figures sees one number.
TEST(Verdict, NamesTheDriftThatItStores) {
  const v1::Verdict verdict = judge(with_rounds(12, legs(100'000, 50'000, 103'000)), {});
  EXPECT_EQ(verdict.verdict(), v1::SLOWER);
  EXPECT_NEAR(verdict.stages(0).drift(), std::log(1.03), 1e-9);
  EXPECT_TRUE(says(verdict, "the drift of 2.96 %")) << verdict.reason();
}

TEST(Verdict, SaysWhatGivesTheRoundsThatAreMissing) {
  v1::Configuration configuration = with_rounds(4, legs(100'000, 100'000, 100'000));
  const auto reason = [&](const std::string& stopped_because) {
    configuration.set_stopped_because(stopped_because);
    return judge(configuration, {}).reason();
  };
  const std::string missing = "undecided: insufficient samples (have 4, need 12) of whole rounds";
  EXPECT_EQ(reason("budget used"), missing + "; the budget was used: raise --budget");
  EXPECT_EQ(reason("rounds used"), missing + "; the rounds were used: raise --rounds");
  EXPECT_EQ(reason("dropped: at least 5 % slower"), missing);
  // Enough were run, but some do not count.
  add_rounds(&configuration, 8, legs(100'000, 100'000, 100'000));
  configuration.mutable_candidate()->mutable_blocks(3)->set_disqualified(true);
  EXPECT_EQ(reason("rounds used").find("--rounds"), std::string::npos) << reason("rounds used");
}

TEST(Verdict, IsTheSameSeenFromTheOtherArm) {
  const auto ratio_of = [](std::int64_t baseline, std::int64_t candidate) {
    return judge(
               with_rounds(
                   12, [=](const Call& call) { return is_candidate(call) ? candidate : baseline; }),
               {})
        .verdict();
  };
  EXPECT_EQ(ratio_of(100'000, 101'050), v1::SLOWER);
  EXPECT_EQ(ratio_of(101'050, 100'000), v1::FASTER);
  EXPECT_EQ(ratio_of(100'000, 100'990), v1::SAME);
  EXPECT_EQ(ratio_of(100'990, 100'000), v1::SAME);
}

TEST(Verdict, NeverCallsIdenticalCodeFaster) {
  JudgeOptions options;
  options.identical_code = true;
  const v1::Verdict verdict =
      judge(with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; }),
            options);
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_EQ(verdict.statistical_verdict(), v1::FASTER);
  EXPECT_TRUE(says(verdict, "identical machine code")) << verdict.reason();
  EXPECT_FALSE(wants_more_rounds(verdict));
}

TEST(Verdict, CarriesClocksThatDifferAndDoubtsAControl) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  for (v1::Block& block : *configuration.mutable_baseline()->mutable_blocks()) {
    block.set_sm_clock_mhz(1'980);
  }
  for (v1::Block& block : *configuration.mutable_candidate()->mutable_blocks()) {
    block.set_sm_clock_mhz(1'755);
  }
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::FASTER);
  EXPECT_TRUE(says(verdict, "clocks differ: A at 1,980 MHz, B at 1,755 MHz")) << verdict.reason();
  JudgeOptions options;
  options.identical_code = true;
  EXPECT_EQ(judge(configuration, options).statistical_verdict(), v1::UNDECIDED);
}

TEST(Verdict, ShowsSeenAndWantedClocksWhenTooFewBlocksAreGood) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  v1::Block* block = configuration.mutable_candidate()->mutable_blocks(3);
  block->set_disqualified(true);
  block->set_disqualified_because("thermal slow-down");
  block->set_sm_clock_mhz(900);
  block->set_wanted_sm_clock_mhz(1'980);
  v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(verdict,
                   "insufficient samples (have 11, need 12) of whole rounds; 1 block was "
                   "disqualified (thermal slow-down): seen 900 MHz, wanted 1,980 MHz"))
      << verdict.reason();
  EXPECT_FALSE(verdict.stages(0).has_ratio());
  EXPECT_TRUE(wants_more_rounds(verdict));

  add_rounds(
      &configuration, 12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::FASTER);
  EXPECT_EQ(verdict.stages(0).num_rounds(), 23U);
}

TEST(Verdict, LooksAfter12And24And48RoundsOnly) {
  v1::Configuration configuration = with_rounds(12, legs(100'000, 100'000, 100'000));
  add_rounds(&configuration, 11, legs(90'000, 100'000, 90'000));
  v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.stages(0).num_rounds(), 12U);
  EXPECT_EQ(verdict.verdict(), v1::SAME);
  add_rounds(&configuration, 1, legs(90'000, 100'000, 90'000));
  verdict = judge(configuration, {});
  EXPECT_EQ(verdict.stages(0).num_rounds(), 24U);
  EXPECT_EQ(verdict.verdict(), v1::UNDECIDED);
}

TEST(Verdict, BelievesADifferenceBeyondTheTwoModes) {
  const auto duration = [](double ratio) {
    return [ratio](const Call& call) {
      const double base = call.call % 2 == 0 ? 100'000.0 : 120'000.0;
      return std::llround(is_candidate(call) ? base * ratio : base);
    };
  };
  const v1::Verdict near = judge(with_rounds(12, duration(0.9)), {});
  EXPECT_EQ(near.verdict(), v1::UNDECIDED);
  EXPECT_TRUE(says(near, "two modes 20.0 % apart, call by call")) << near.reason();
  const v1::Verdict far = judge(with_rounds(12, duration(0.5)), {});
  EXPECT_EQ(far.verdict(), v1::FASTER);
  EXPECT_TRUE(far.reason().ends_with(
      "beyond the least effect of 1.00 %, the drift of 0.00 %, the 20.00 % between two modes of "
      "the baseline; no A/A noise is stored"))
      << far.reason();
}

TEST(Verdict, JudgesEveryStageAndTakesTheCallForItsOwn) {
  v1::Configuration configuration =
      with_rounds(12, [](const Call& call) { return is_candidate(call) ? 90'000 : 100'000; });
  for (v1::Measurement* arm :
       {configuration.mutable_baseline(), configuration.mutable_candidate()}) {
    const auto total = stage_of(arm, "total")->samples_ns();
    v1::StageSamples* chunk = stage_of(arm, "chunk");
    for (const std::int64_t sample : total) {
      chunk->add_samples_ns(sample / 2);
    }
  }
  stage_of(configuration.mutable_candidate(), "merge");
  const v1::Verdict verdict = judge(configuration, {});
  ASSERT_EQ(verdict.stages_size(), 3);
  EXPECT_EQ(verdict.stages(0).stage(), "total");
  EXPECT_EQ(verdict.stages(1).verdict(), v1::FASTER);
  EXPECT_EQ(verdict.stages(1).candidate_median_ns(), 45'000);
  EXPECT_EQ(verdict.stages(2).verdict(), v1::UNDECIDED);
  EXPECT_EQ(verdict.stages(2).reason(), "undecided: no samples of the stage `merge` (baseline)");
  EXPECT_EQ(verdict.verdict(), v1::FASTER);
}

TEST(Verdict, DescribesAnArmAloneWithoutJudgement) {
  v1::Configuration configuration =
      with_rounds(3, [](const Call& call) { return 100'000 + call.call * 1'000; });
  configuration.clear_candidate();
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_EQ(verdict.verdict(), v1::NOT_JUDGED);
  EXPECT_EQ(verdict.reason(), "not judged: one arm alone");
  EXPECT_EQ(verdict.stages(0).baseline_median_ns(), 109'500);
  EXPECT_LT(verdict.stages(0).baseline_lower_quartile_ns(), 109'500);
  EXPECT_FALSE(verdict.stages(0).has_ratio());
  EXPECT_EQ(verdict.stages(0).num_good_blocks(), 3U);
  EXPECT_GT(verdict.stages(0).num_samples(), 0U);
}

TEST(Verdict, TellsWhoElseHadTheDeviceAndThatItsClockMoved) {
  v1::Configuration configuration = with_rounds(12, legs(100'000, 100'000, 100'000));
  EXPECT_FALSE(says(judge(configuration, {}), "another process"));
  configuration.mutable_candidate()->mutable_blocks(3)->set_num_other_processes(2);
  v1::Admission& admission = *configuration.mutable_candidate()->mutable_admission();
  admission.set_detail("the clock still moved between 1,200 and 1,980 MHz");
  const v1::Verdict verdict = judge(configuration, {});
  EXPECT_TRUE(says(verdict, "another process had the device too in 1 of 36 blocks"))
      << verdict.reason();
  EXPECT_TRUE(says(verdict,
                   "when the candidate was let in, the clock still moved between 1,200 and 1,980 "
                   "MHz"))
      << verdict.reason();
  EXPECT_EQ(verdict.verdict(), v1::SAME);
  admission.set_stable(true);
  EXPECT_FALSE(says(judge(configuration, {}), "was let in"));
}

TEST(Verdict, StoresItsRuleAndTime) {
  JudgeOptions options;
  options.least_effect = 0;
  options.now_ns = 42;
  const v1::Verdict verdict = judge(equal_arms(), options);
  EXPECT_EQ(verdict.rule_version(), kRuleVersion);
  EXPECT_EQ(verdict.judged_ns(), 42);
  EXPECT_EQ(verdict.least_effect(), kDefaultLeastEffect);
  EXPECT_EQ(verdict.reason(), "undecided: no samples of the stage `total`");
}

}  // namespace
}  // namespace assay::profiler
