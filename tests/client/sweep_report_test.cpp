#include "client/report.h"
#include "tests/client/fixtures.h"
#include "tests/client/sweep_fixtures.h"

#include "google/protobuf/util/json_util.h"
#include <gtest/gtest.h>

namespace assay::client {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Winner, tied, behind, dropped, unclear and failed.
v1::Experiment one_of_each() {
  v1::Experiment experiment = made_up_sweep();
  add_try(experiment, "64", "1", v1::FASTER, 0.9);
  add_try(experiment, "64", "2", v1::FASTER, 0.8);
  add_try(experiment, "64", "4", v1::UNDECIDED, 0.995);
  add_try(experiment, "64", "8", v1::SLOWER, 1.2);
  add_dropped(experiment, "64", "16", 1.6);
  v1::StageVerdict& total =
      *add_try(experiment, "64", "32", v1::UNDECIDED, 1).mutable_verdicts(0)->mutable_stages(1);
  total.set_has_ratio(false);
  total.set_reason("not enough good rounds");
  add_failed(experiment, "64", "64", v1::RESOURCES, "more shared memory than there is");
  return experiment;
}

TEST(SweepReport, ShowsEachFailureClassWithItsFirstConfigurationWhereNothingRanks) {
  v1::Experiment experiment = made_up_sweep();
  add_failed(experiment, "64", "1", v1::CONSTRAINTS, "cells * threads is too large");
  add_failed(experiment, "64", "2", v1::COMPILE, "line 3: no `x`");
  add_failed(experiment, "64", "4", v1::RESOURCES, "too much shared memory");
  add_failed(experiment, "64", "8", v1::LAUNCH, "invalid argument");
  add_failed(experiment, "64", "16", v1::TIMEOUT, "no answer in 2 s");
  add_failed(experiment, "64", "32", v1::RUNTIME, "killed by signal 11");
  add_failed(experiment, "64", "64", v1::WRONG_OUTPUT, "1.5 of the tolerance");
  add_failed(experiment, "64", "128", v1::BIT_DRIFT, "3 elements differ");
  add_failed(experiment, "64", "256", v1::COMPILE, "line 9");
  EXPECT_EQ(text_of(experiment, Format::kTable),
            "device      cpu (Made-up CPU)\n"
            "operator    qsa_decode\n"
            "schedule    nothing was timed\n"
            "seed        0\n"
            "experiment  7\n"
            "strategy    exhaustive\n"
            "baseline    one_cell\n"
            "variant     two_cell, threads=2\n"
            "workload    kv=int8, width=64\n"
            "\n"
            "failure       configurations  the first           why\n"
            "compile                    2  cells_per_step=2    line 3: no `x`\n"
            "resources                  1  cells_per_step=4    too much shared memory\n"
            "launch                     1  cells_per_step=8    invalid argument\n"
            "timeout                    1  cells_per_step=16   no answer in 2 s\n"
            "runtime                    1  cells_per_step=32   killed by signal 11\n"
            "wrong output               1  cells_per_step=64   1.5 of the tolerance\n"
            "bit drift                  1  cells_per_step=128  3 elements differ\n"
            "constraints                1  cells_per_step=1    cells * threads is too large\n"
            "\n"
            "no winner: none of 9 configurations may rank\n"
            "9 configurations: 9 failed; bits equal in 0 of 9\n");
}

TEST(SweepReport, TellsWhatIsSoFarOfASweepThatDidNotEnd) {
  v1::Experiment experiment = one_of_each();
  experiment.set_state(v1::RUNNING);
  experiment.set_num_configurations(9);
  std::string text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "\nwinner so far: two_cell:cells_per_step=2,threads=2, ")) << text;
  EXPECT_TRUE(text.ends_with("experiment 7 is running; 7 of 9 configurations finished\n")) << text;
  experiment.set_state(v1::CANCELLED);
  add_failed(experiment, "128", "64", v1::COMPILE, "");
  text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "width=64   cells_per_step=2      987.6 ")) << text;
  EXPECT_TRUE(has(text, "width=128  none may rank so far ")) << text;
  EXPECT_TRUE(text.ends_with("it goes on where it stands: `assay sweep --resume 7`\n")) << text;
  experiment.clear_configurations();
  experiment.set_num_finished(0);
  text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "schedule    nothing was timed\n")) << text;
  EXPECT_TRUE(has(text, "\n0 configurations\nexperiment 7 cancelled; 0 of ")) << text;
}

TEST(SweepReport, RanksTheConfigurationsOfOneWorkload) {
  EXPECT_EQ(
      text_of(one_of_each(), Format::kTable),
      "device      cpu (Made-up CPU)\n"
      "operator    qsa_decode\n"
      "cache       hot\n"
      "timing      steady clock\n"
      "schedule    BAB, 3 to 12 rounds of 20 calls a block\n"
      "interval    of the median ratio, coverage 99.95 %\n"
      "seed        0\n"
      "experiment  7\n"
      "strategy    exhaustive\n"
      "baseline    one_cell\n"
      "variant     two_cell, threads=2\n"
      "workload    kv=int8, width=64\n"
      "\n"
      "configuration         us  of winner        interval  standing\n"
      "cells_per_step=2   987.6          1               -  winner\n"
      "cells_per_step=4   1,228      0.995  [0.985, 1.005]  tied\n"
      "cells_per_step=8   1,481      1.200  [1.190, 1.210]  behind\n"
      "cells_per_step=1   1,111      1.250  [1.235, 1.266]  behind\n"
      "cells_per_step=16  1,975  about 1.6               -  dropped [1]\n"
      "cells_per_step=32  1,234  about 1.0               -  unclear [2]\n"
      "\n"
      "failure    configurations  the first          why\n"
      "resources               1  cells_per_step=64  more shared memory than there is\n"
      "\n"
      "[1] slower in each of 3 rounds\n"
      "[2] not enough good rounds\n"
      "\n"
      "winner: two_cell:cells_per_step=2,threads=2, 987.6 us, 0.720 of the baseline's time "
      "[0.703, 0.737]\n"
      "ties: 1 configuration not to be told from the winner within the noise of 1.3 %; what was "
      "there first stays: a stored winner, the defaults, then the strategy's order\n"
      "7 configurations: 1 winner, 1 tied, 2 behind, 1 dropped, 1 unclear, 1 failed; bits equal in "
      "6 of 7\n");
}

TEST(SweepReport, WritesMarkdown) {
  const std::string text = text_of(one_of_each(), Format::kMarkdown);
  EXPECT_TRUE(has(text, "- workload: kv=int8, width=64\n")) << text;
  EXPECT_TRUE(has(text, "\n| cells_per_step=2  | 987.6 |         1 |")) << text;
  EXPECT_TRUE(has(text, "\n\n7 configurations: 1 winner")) << text;
}

TEST(SweepReport, WritesEveryEntryForPrograms) {
  EXPECT_EQ(text_of(one_of_each(), Format::kCsv),
            "experiment_id,configuration,operator_name,device,workload,arm,standing,failure,median_"
            "ns,ratio,ratio_low,ratio_high,message\n"
            "7,1,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=1,threads="
            "2\",behind,,1111050,1.25,1.2345679,1.26582278,\n"
            "7,2,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=2,threads="
            "2\",winner,,987600,1,1,1,\n"
            "7,3,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=4,threads="
            "2\",tied,,1228327,0.995,0.985,1.005,\n"
            "7,4,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=8,threads="
            "2\",behind,,1481400,1.2,1.19,1.21,\n"
            "7,5,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=16,threads="
            "2\",dropped,,1975200,1.6,,,slower in each of 3 rounds\n"
            "7,6,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=32,threads="
            "2\",unclear,,1234500,1,,,not enough good rounds\n"
            "7,7,qsa_decode,cpu,\"kv=int8,width=64,seed=0\",\"two_cell:cells_per_step=64,threads="
            "2\",failed,RESOURCES,,,,,more shared memory than there is\n");
}

TEST(SweepReport, GivesTheMessageAsJson) {
  const v1::Experiment experiment = one_of_each();
  v1::Experiment read;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(text_of(experiment, Format::kJson), &read).ok());
  EXPECT_EQ(read.SerializeAsString(), experiment.SerializeAsString());
}

TEST(SweepReport, SaysWhereTheBaselineItselfStayed) {
  v1::Experiment experiment = made_up_sweep();
  v1::Configuration& first = add_try(experiment, "64", "2", v1::UNDECIDED, 1.01);
  *first.mutable_baseline_arm() = first.candidate_arm();
  std::string text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(
      has(text, "winner: two_cell:cells_per_step=2,threads=2, 1,247 us, the baseline itself\n"))
      << text;
  EXPECT_FALSE(has(text, "ties: ")) << text;
  add_try(experiment, "128", "2", v1::FASTER, 0.9);
  text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "itself               -  1.3 %     0       0      1\n")) << text;
}

TEST(SweepReport, SaysHowFarTheStrategyMayGo) {
  v1::Experiment experiment = made_up_sweep();
  v1::SweepSpec& sweep = *experiment.mutable_spec()->mutable_sweep();
  sweep.set_strategy("genetic");
  sweep.set_max_configurations(1'200);
  sweep.set_budget_ns(90'000'000'000);
  EXPECT_TRUE(has(text_of(experiment, Format::kTable),
                  "strategy    genetic, at most 1,200 configurations of a workload, at most 1 min "
                  "30 s of running time a workload\n"));
}

// One of six was tried on each of `widths`, and it is not told from the baseline.
v1::Experiment one_of_six(const std::vector<std::string>& widths) {
  v1::Experiment experiment = made_up_sweep();
  const std::vector<std::pair<std::string, std::vector<std::string>>> axes = {
      {"cells_per_step", {"2", "4", "8"}}, {"threads", {"1", "2"}}, {"width", widths}};
  for (const auto& [name, values] : axes) {
    v1::Axis& axis = *experiment.mutable_spec()->add_axes();
    axis.set_name(name);
    axis.mutable_values()->Add(values.begin(), values.end());
  }
  for (const std::string& width : widths) {
    v1::Configuration& made = add_try(experiment, width, "2", v1::UNDECIDED, 0.689);
    made.mutable_verdicts(0)->mutable_stages(1)->set_ratio_low(0.433);
    made.mutable_verdicts(0)->mutable_stages(1)->set_ratio_high(1.243);
  }
  return experiment;
}

TEST(SweepReport, TakesNothingWalkedForFixed) {
  const std::string text = text_of(one_of_six({"2051"}), Format::kTable);
  EXPECT_TRUE(has(text, "\nvariant     two_cell\n")) << text;
  EXPECT_TRUE(has(text, "\ncells_per_step=2, threads=2  ")) << text;
}

TEST(SweepReport, EndsWithWhatTheDaemonSaysWasLeftUntried) {
  v1::Experiment experiment = one_of_six({"64", "2051"});
  EXPECT_FALSE(has(text_of(experiment, Format::kTable), " not tried"));
  const std::string untried =
      "10 of 12 configurations not tried: the budget of 4.0 s of each workload was spent";
  experiment.set_message(untried);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "\n" + untried + "\n")) << text;
  EXPECT_EQ(text.find(untried), text.rfind(untried)) << text;
}

TEST(SweepReport, WarnsOfAWinnerThatIsNotShownToBeFaster) {
  std::string text = text_of(one_of_six({"64"}), Format::kTable);
  EXPECT_TRUE(
      has(text,
          "\ncaution: the winner is not shown to be faster than the baseline: its interval is "
          "not below 1; more --rounds or a larger --budget may tell\n"))
      << text;
  text = text_of(one_of_six({"64", "2051"}), Format::kTable);
  EXPECT_TRUE(has(text, "\ncaution: 2 of 2 winners are not shown to be faster than the baseline"))
      << text;
  EXPECT_FALSE(has(text_of(one_of_each(), Format::kTable), "caution"));
}

TEST(SweepReport, GivesEachOfSeveralWorkloadsARowAndAFewRanks) {
  v1::Experiment experiment = made_up_sweep();
  add_try(experiment, "64", "1", v1::FASTER, 0.9);
  for (const char* cells : {"2", "4", "8", "16", "32", "64"}) {
    add_try(experiment, "64", cells, v1::SLOWER, 1.2);
  }
  add_failed(experiment, "128", "1", v1::COMPILE, "line 3");
  add_failed(experiment, "128", "2", v1::BIT_DRIFT, "3 elements differ");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_EQ(text.substr(text.find("\n\n") + 1),
            "\n"
            "workload   winner               us  of baseline        interval  noise  tied  failed  "
            "tried\n"
            "width=64   cells_per_step=1  1,111        0.900  [0.890, 0.910]  1.3 %     0       0  "
            "    7\n"
            "width=128  none may rank         -            -               -      -     0       2  "
            "    2\n"
            "\n"
            "workload  configuration         us  of winner        interval  standing\n"
            "width=64  cells_per_step=1   1,111          1               -  winner\n"
            "          cells_per_step=2   1,481      1.200  [1.190, 1.210]  behind\n"
            "          cells_per_step=4   1,481      1.200  [1.190, 1.210]  behind\n"
            "          cells_per_step=8   1,481      1.200  [1.190, 1.210]  behind\n"
            "          cells_per_step=16  1,481      1.200  [1.190, 1.210]  behind\n"
            "          and 2 more\n"
            "\n"
            "workload   failure    configurations  the first         why\n"
            "width=128  compile                 1  cells_per_step=1  line 3\n"
            "           bit drift               1  cells_per_step=2  3 elements differ\n"
            "\n"
            "9 configurations: 1 winner, 6 behind, 2 failed; bits equal in 7 of 9\n");
}

TEST(SweepReport, GivesManyWorkloadsTheirWinnersOnly) {
  v1::Experiment experiment = made_up_sweep();
  for (int width = 1; width <= 8; ++width) {
    add_try(experiment, std::to_string(width), "1", v1::FASTER, 0.9);
    add_try(experiment, std::to_string(width), "2", v1::UNDECIDED, 1.0);
  }
  EXPECT_TRUE(has(text_of(experiment, Format::kTable), "standing\n"));
  add_try(experiment, "9", "1", v1::FASTER, 0.9);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_FALSE(has(text, "standing\n")) << text;
  EXPECT_TRUE(has(text, "width=9   cells_per_step=1  1,111")) << text;
  EXPECT_TRUE(has(text, "every configuration: `assay show 7 --format csv`\n")) << text;
  EXPECT_TRUE(has(text, "ties: 8 configurations ")) << text;
  EXPECT_TRUE(has(text, " within the noise of at most 1.3 %; ")) << text;
  EXPECT_TRUE(text.ends_with("17 configurations: 9 winners, 8 tied; bits equal in 17 of 17\n"))
      << text;
}

}  // namespace
}  // namespace assay::client
