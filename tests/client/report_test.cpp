#include "client/report.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::client {
namespace {

constexpr char kFacts[] =
    "device      cpu (Made-up CPU)\n"
    "code        0.1.0+abc\n"
    "operator    qsa_decode\n"
    "cache       hot\n"
    "timing      steady clock\n"
    "schedule    BAB, 12 rounds of 20 calls a block\n"
    "interval    of the median ratio, coverage 99.95 %\n"
    "seed        5\n"
    "experiment  7\n"
    "A           one_cell, threads=2\n"
    "B           two_cell, threads=2\n"
    "workload    kv=int8, width=2051\n";

TEST(CompareReport, ShowsNoRatioOfARejectedRowWhateverIsStored) {
  v1::Experiment experiment = made_up_comparison();
  v1::Verdict& verdict = *experiment.mutable_configurations(1)->mutable_verdicts(0);
  *verdict.mutable_stages() = made_up_verdict(v1::FASTER, 0.5, "").stages();
  EXPECT_EQ(text_of(experiment, Format::kTable), text_of(made_up_comparison(), Format::kTable));
  EXPECT_EQ(text_of(experiment, Format::kCsv).find(",0.5,"), std::string::npos);
}

TEST(CompareReport, ShowsWhatHappenedToAConfigurationThatDidNotFinish) {
  v1::Experiment experiment = made_up_comparison();
  experiment.set_state(v1::CANCELLED);
  experiment.set_message("asked for");
  experiment.set_num_configurations(3);
  v1::Configuration& crashed = *experiment.mutable_configurations(1);
  crashed.set_outcome(v1::CRASHED);
  crashed.set_message("killed by signal 11");
  crashed.clear_verdicts();
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("crashed [2]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[2] killed by signal 11\n"), std::string::npos) << text;
  EXPECT_EQ(tail_of(text, 2),
            "2 configurations: 1 crashed, 1 faster; bits equal in 1 of 2; goldens: 1 reproduced\n"
            "experiment 7 cancelled: asked for; 2 of 3 configurations finished\n");
}

TEST(CompareReport, SaysThatNothingWasTimedWhenAllIsRejected) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->DeleteSubrange(0, 1);
  experiment.mutable_configurations(0)->mutable_baseline()->clear_blocks();
  experiment.mutable_configurations(0)->mutable_candidate()->clear_blocks();
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("schedule    nothing was timed\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("interval    "), std::string::npos) << text;
}

TEST(CompareReport, NamesTheBaselineThatFailed) {
  v1::Experiment experiment = made_up_comparison();
  v1::Configuration& failed = *experiment.mutable_configurations(1);
  failed.mutable_verdicts(0)->set_rejected_baseline(true);
  failed.mutable_verdicts(0)->set_rejected_by(v1::BITS_REPEATABLE);
  failed.mutable_baseline()->mutable_bits()->set_detail("3 digests in 5 runs");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("not repeatable"), std::string::npos) << text;
  EXPECT_NE(text.find("baseline rejected [2]"), std::string::npos) << text;
  EXPECT_NE(text.find("; 3 digests in 5 runs\n"), std::string::npos) << text;
}

TEST(CompareReport, TellsOfDisqualifiedBlocksAndLostRecords) {
  v1::Experiment experiment = made_up_comparison();
  v1::Measurement& candidate = *experiment.mutable_configurations(0)->mutable_candidate();
  candidate.mutable_blocks(3)->set_disqualified(true);
  candidate.mutable_blocks(3)->set_disqualified_because("thermal slow-down");
  candidate.set_num_dropped_records(2);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("faster [1] [2] [3]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[2] 1 of 12 blocks of B disqualified: thermal slow-down\n"),
            std::string::npos);
  EXPECT_NE(text.find("[3] 2 activity records of B had no usable time\n"), std::string::npos);
}

TEST(CompareReport, WarnsWhereMoreOfTheToleranceIsUsedThanIsExplained) {
  v1::Experiment experiment = made_up_comparison();
  v1::BitsReport& bits = *experiment.mutable_configurations(0)->mutable_baseline()->mutable_bits();
  bits.set_tolerance_alarm(true);
  bits.set_tolerance_used(0.8);
  bits.set_tolerance_place("out[0, 3, 17]");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("0.0312 [1]  "), std::string::npos) << text;
  EXPECT_NE(text.find("[1] tolerance alarm: A uses 0.8 of its tolerance at out[0, 3, 17], more "
                      "than the formats explain\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(tail_of(text, 1),
            "warning: the tolerance alarm of the operator is passed in 1 configuration\n");
}

TEST(CompareReport, SaysHowCallsWereLaunched) {
  v1::Experiment experiment = made_up_comparison();
  for (v1::Configuration& configuration : *experiment.mutable_configurations()) {
    configuration.mutable_baseline()->set_launch_mode(v1::GRAPH);
    configuration.mutable_candidate()->set_launch_mode(v1::GRAPH);
  }
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(text.find("cache       hot\nlaunch      graph\ntiming "), std::string::npos) << text;
  EXPECT_NE(text_of(experiment, Format::kCsv).find(",HOT,GRAPH,"), std::string::npos);
}

TEST(CompareReport, ShowsTheTableOfAComparison) {
  EXPECT_EQ(
      text_of(made_up_comparison(), Format::kTable),
      std::string(kFacts) +
          "\n"
          "workload  stage   A us   B us    B/A        interval  A of floor  B of floor  bits"
          "            tolerance used  verdict\n"
          "n_q=1     chunk  1,234  987.6  0.800  [0.790, 0.810]                          equal "
          "01234567          0.0312  faster\n"
          "          total  1,234  987.6  0.800  [0.790, 0.810]        50 %        62 %       "
          "                           faster [1]\n"
          "n_q=2     total      -      -      -               -                          bits "
          "differ             0.0312  rejected [2]\n"
          "\n"
          "[1] the whole interval is below 0.99\n"
          "[2] the bits differ from the baseline's; 1,024 of 12,288 elements of `out` differ (ulp "
          "sized, at most 3 ulp), first at out[0, 3, 17]: expected 0x3f800000 (1), found "
          "0x3f800001 (1.0000001)\n"
          "\n"
          "2 configurations: 1 faster, 1 rejected; bits equal in 1 of 2; goldens: 1 reproduced\n");
}

TEST(CompareReport, WritesMarkdownForAPullRequest) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_spec()->set_label("a|b <i>");
  experiment.mutable_configurations()->RemoveLast();
  experiment.mutable_configurations(0)->mutable_baseline()->clear_floor_ns();
  EXPECT_EQ(text_of(experiment, Format::kMarkdown),
            "- device: cpu (Made-up CPU)\n"
            "- code: 0.1.0+abc\n"
            "- operator: qsa_decode\n"
            "- cache: hot\n"
            "- timing: steady clock\n"
            "- schedule: BAB, 12 rounds of 20 calls a block\n"
            "- interval: of the median ratio, coverage 99.95 %\n"
            "- seed: 5\n"
            "- experiment: 7\n"
            "- label: a\\|b &lt;i>\n"
            "- A: one_cell, threads=2\n"
            "- B: two_cell, threads=2\n"
            "- workload: kv=int8, n_q=1, width=2051\n"
            "\n"
            "| stage |  A us |  B us |   B/A |       interval | bits           | tolerance used | "
            "verdict    |\n"
            "| ----- | ----: | ----: | ----: | -------------: | -------------- | -------------: | "
            "---------- |\n"
            "| chunk | 1,234 | 987.6 | 0.800 | [0.790, 0.810] | equal 01234567 |         0.0312 | "
            "faster     |\n"
            "| total | 1,234 | 987.6 | 0.800 | [0.790, 0.810] |                |                | "
            "faster [1] |\n"
            "\n"
            "1. the whole interval is below 0.99\n"
            "\n"
            "1 configuration: 1 faster; bits equal in 1 of 1; goldens: 1 reproduced\n");
}

TEST(CompareReport, ShowsAMeasurementWithoutAJudgement) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_spec()->set_kind(v1::MEASURE);
  experiment.mutable_configurations()->RemoveLast();
  v1::Configuration& measured = *experiment.mutable_configurations(0);
  measured.clear_candidate();
  measured.clear_candidate_arm();
  measured.mutable_verdicts(0)->set_verdict(v1::NOT_JUDGED);
  for (v1::StageVerdict& stage : *measured.mutable_verdicts(0)->mutable_stages()) {
    stage.set_baseline_lower_quartile_ns(1'200'000);
    stage.set_baseline_upper_quartile_ns(1'300'000);
  }
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_NE(
      text.find("stage  median us    quartiles us  of floor  bits      tolerance used  result\n"
                "chunk      1,234  1,200 to 1,300            01234567          0.0312\n"
                "total      1,234  1,200 to 1,300      50 %                            "
                "measured\n"),
      std::string::npos)
      << text;
}

TEST(Explanation, ShowsEveryFigureThatAVerdictRestsOn) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->DeleteSubrange(1, 1);
  v1::Verdict& verdict = *experiment.mutable_configurations(0)->mutable_verdicts(0);
  verdict.set_least_effect(0.01);
  verdict.set_has_noise_floor(true);
  verdict.set_noise_floor(0.0021);
  verdict.set_noise_floor_ns(1'780'000'000'000'000'000);
  verdict.set_noise_floor_experiment_id(5);
  verdict.set_noise_floor_stale("the driver was 570, now 580");
  verdict.set_baseline_sm_clock_mhz(1'980);
  verdict.set_candidate_sm_clock_mhz(1'975);
  for (v1::StageVerdict& stage : *verdict.mutable_stages()) {
    stage.set_bar(0.01);
    stage.set_drift(0.0005);
    stage.set_modes_apart(0.003);
    stage.set_num_good_blocks(35);
    stage.set_num_bad_blocks(1);
    stage.set_num_samples(720);
    stage.set_num_faults(2);
  }
  const std::string text = explanation_text(experiment, Format::kTable);
  for (const char* line : {
           "workload       kv=int8,n_q=1,width=2051,seed=0\n",
           "A              one_cell:threads=2\n",
           "verdict        faster\n",
           "why            the whole interval is below 0.99\n",
           "A/A noise      0.21 %, of 2026-05-28 20:26:40 (experiment 5); stale: the driver was "
           "570, "
           "now 580\n",
           "clocks         A at 1,980 MHz, B at 1,975 MHz\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
  const auto has_row = [&](const std::string& name, const std::string& cell) {
    const std::size_t begin = text.find("\n" + name + " ");
    const std::size_t end = text.find('\n', begin + 1);
    return begin != std::string::npos &&
           text.substr(begin, end - begin).find(cell) != std::string::npos;
  };
  EXPECT_TRUE(has_row("B/A", "0.8000")) << text;
  EXPECT_TRUE(has_row("interval", "0.7900 to 0.8100")) << text;
  EXPECT_TRUE(has_row("has to lie beyond", "1.0 %")) << text;
  EXPECT_TRUE(has_row("  drift", "0.050 %")) << text;
  EXPECT_TRUE(has_row("  A/A noise", "0.21 %")) << text;
  EXPECT_TRUE(has_row("  two modes apart", "0.30 %")) << text;
  EXPECT_TRUE(has_row("blocks", "35 good, 1 not")) << text;
  EXPECT_TRUE(has_row("samples", "720, 2 faults")) << text;
}

TEST(Explanation, SaysHowToGetTheNoiseThatIsNotStored) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->DeleteSubrange(1, 1);
  const std::string text = explanation_text(experiment, Format::kTable);
  EXPECT_NE(text.find("none is stored for this device, workload and mode; `assay calibrate "
                      "qsa_decode` measures it\n"),
            std::string::npos)
      << text;
}

TEST(CompareReport, GivesRawNanosecondsAsCsv) {
  const std::string text = text_of(made_up_comparison(), Format::kCsv);
  EXPECT_NE(
      text.find("\n7,1,qsa_decode,cpu,,\"kv=int8,n_q=1,width=2051,seed=0\",one_cell:threads=2,"
                "two_cell:threads=2,FINISHED,total,1234500,,,987600,,,0.8,0.79,0.81,0.99951,"
                "0,,12,0,0,FASTER,VERDICT_KIND_UNSPECIFIED,FASTER,true,,"
                "0123456789abcdef0123456789abcdef,reproduced,0.03125,false,617250,STEADY_CLOCK,HOT,"
                "LAUNCH_MODE_UNSPECIFIED,"
                "the whole interval is below 0.99\n"),
      std::string::npos)
      << text;
}

TEST(CompareReport, KeepsTheNamesOfTheDataModelInJson) {
  const std::string text = text_of(made_up_comparison(), Format::kJson);
  EXPECT_NE(text.find("\"experiment_id\": \"7\""), std::string::npos);
  EXPECT_NE(text.find("\"found_bits\": \"0x3f800001\""), std::string::npos);
}

TEST(BlockReport, ShowsClocksAndTimesOfEveryBlock) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->RemoveLast();
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.clear_candidate();
  v1::Measurement& baseline = *configuration.mutable_baseline();
  baseline.mutable_blocks()->DeleteSubrange(1, 11);
  baseline.mutable_blocks(0)->set_num_calls(3);
  baseline.mutable_blocks(0)->set_sm_clock_mhz(1980);
  v1::StageSamples& total = *baseline.add_stages();
  total.set_stage("total");
  for (const std::int64_t sample : {3000, 1000, 2000}) {
    total.add_samples_ns(sample);
  }
  EXPECT_EQ(tail_of(text_of(experiment, Format::kTable, true), 1),
            "            1  A        1    2      3     1.000      2.000    3.000   1,980        "
            "   -        -      -\n");
  EXPECT_EQ(tail_of(text_of(experiment, Format::kCsv, true), 1),
            "1,\"kv=int8,n_q=1,width=2051,seed=0\",baseline,one_cell:threads=2,total,0,1,2,2000,"
            "1980,false\n");
}

TEST(BlockReport, ShowsOneSampleForEachReplayOfAGraph) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->RemoveLast();
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.clear_candidate();
  v1::Measurement& baseline = *configuration.mutable_baseline();
  baseline.mutable_blocks()->DeleteSubrange(2, 10);
  v1::StageSamples& total = *baseline.add_stages();
  total.set_stage("total");
  for (v1::Block& block : *baseline.mutable_blocks()) {
    block.set_num_calls(1000);
    block.set_calls_per_sample(500);
  }
  for (const std::int64_t sample : {3000, 1000, 5000, 7000}) {
    total.add_samples_ns(sample);
  }
  EXPECT_NE(text_of(experiment, Format::kTable, true).find("1,000     5.000      6.000    7.000"),
            std::string::npos)
      << text_of(experiment, Format::kTable, true);
  const std::string csv = text_of(experiment, Format::kCsv, true);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 4) << csv;
}

TEST(Report, TellsTheDeviceTheFlagsAndTheCode) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_device()->set_uuid("GPU-12");
  experiment.mutable_device()->set_build_flags("-O2 --fmad=false");
  v1::Context& context = *experiment.mutable_spec()->mutable_context();
  context.set_commit("2e52f37aa3d1f00d2e52f37aa3d1f00d");
  context.set_committed_ns(1'769'860'805'000'000'000);
  context.set_dirty(true);
  context.set_branch("main");
  context.set_note("why\nthis");
  context.add_labels()->set_name("nightly");
  const std::string text = text_of(experiment, Format::kTable);
  for (const char* line : {"cpu (Made-up CPU, GPU-12)\n",
                           "build flags  -O2 --fmad=false\n",
                           "commit       2e52f37aa3d1 with changes, of 2026-01-31 12:00:05 UTC\n",
                           "branch       main\n",
                           "labels       nightly\n",
                           "note         why this\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace assay::client
