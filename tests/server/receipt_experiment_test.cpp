#include "server/receipt_experiment.h"

#include "server/receipt_not_run.h"
#include "tests/client/fixtures.h"
#include "tests/client/sweep_fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::server {
namespace {

std::string value_of(const google::protobuf::RepeatedPtrField<v1::Setting>& facts,
                     const std::string& name) {
  const auto found =
      std::ranges::find_if(facts, [&name](const v1::Setting& each) { return each.name() == name; });
  return found == facts.end() ? "" : found->value();
}

bool admits(const v1::ReceiptExperiment& receipt, const std::string& line) {
  return std::ranges::find(receipt.not_run(), line) != receipt.not_run().end();
}

TEST(ReceiptExperiment, NamesTheRequestAndNotTheIdOfADatabase) {
  v1::Experiment experiment = client::made_up_comparison();
  experiment.set_request_id("run on gpubox");
  experiment.mutable_configurations(0)->mutable_verdicts(0)->set_noise_floor_experiment_id(3);
  const v1::ReceiptExperiment first = receipt_experiment(experiment);
  EXPECT_EQ(first.request(), receipt_name("run on gpubox"));
  EXPECT_EQ(first.request().size(), 32U);
  experiment.set_experiment_id(1234);
  experiment.mutable_configurations(0)->mutable_verdicts(0)->set_noise_floor_experiment_id(56);
  EXPECT_EQ(receipt_experiment(experiment).SerializeAsString(), first.SerializeAsString());
}

TEST(ReceiptExperiment, TellsNoPlaceNoUserAndNoNote) {
  const std::string home = std::string("/ho") + "me/alice";
  v1::Experiment experiment = client::made_up_comparison();
  v1::Device& device = *experiment.mutable_device();
  device.set_name("gpubox");
  device.set_uuid("GPU-0123");
  device.add_launch_prefix("ssh");
  device.add_launch_prefix("alice@gpubox");
  v1::ExperimentSpec& spec = *experiment.mutable_spec();
  spec.set_device("gpubox");
  spec.set_label("alice@gpubox at " + home);
  v1::Context& context = *spec.mutable_context();
  context.set_commit("0123abc");
  context.set_note("alice says");
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.set_message(home + "/k.cu(3): warning");
  configuration.mutable_baseline()->set_counters_missing("no " + home);
  const std::string bytes = receipt_experiment(experiment).SerializeAsString();
  for (const char* secret : {"alice", "gpubox", "GPU-0123", "says"}) {
    EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(bytes.find("0123abc"), std::string::npos);
  EXPECT_NE(bytes.find(".../k.cu(3): warning"), std::string::npos);
}

TEST(ReceiptExperiment, StatesModesAndJudgement) {
  v1::Experiment experiment = client::made_up_comparison();
  v1::Verdict& verdict = *experiment.mutable_configurations(0)->mutable_verdicts(0);
  verdict.set_rule_version(3);
  verdict.set_least_effect(0.01);
  verdict.set_has_noise_floor(true);
  verdict.set_noise_floor(0.004);
  verdict.set_noise_floor_ns(1'769'860'805'000'000'000);
  verdict.set_noise_floor_stale("another driver");
  verdict.set_judged_ns(1'769'860'805'000'000'000);
  verdict.mutable_stages(0)->set_drift(0.002);
  experiment.mutable_configurations(1)->mutable_verdicts(0)->set_rule_version(3);
  experiment.mutable_configurations(1)->mutable_verdicts(0)->set_judged_ns(
      1'769'860'805'000'000'000);
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  EXPECT_EQ(value_of(receipt.environment(), "device"), "Made-up CPU");
  EXPECT_EQ(value_of(receipt.environment(), "cache"), "hot");
  EXPECT_EQ(value_of(receipt.environment(), "timing"), "steady clock");
  EXPECT_EQ(value_of(receipt.environment(), "schedule"), "BAB");
  EXPECT_EQ(value_of(receipt.environment(), "rounds"), "12");
  EXPECT_EQ(value_of(receipt.environment(), "calls a block"), "20");
  EXPECT_EQ(value_of(receipt.environment(), "seed"), "5");
  EXPECT_EQ(value_of(receipt.judged_by(), "rule"), "3");
  EXPECT_EQ(value_of(receipt.judged_by(), "judged"), "2026-01-31 12:00:05 UTC");
  EXPECT_EQ(value_of(receipt.judged_by(), "intervals"),
            "of the median ratio, coverage at least 99.95 %");
  EXPECT_EQ(value_of(receipt.judged_by(), "least effect"), "1.0 %");
  EXPECT_EQ(value_of(receipt.judged_by(), "noise floor"),
            "0.40 %, measured 2026-01-31 12:00:05 UTC; stale: another driver");
  EXPECT_EQ(value_of(receipt.judged_by(), "drift of the stages"), "0 % to 0.20 %");
}

TEST(ReceiptExperiment, KeepsWhatEachRowRestsOn) {
  v1::Experiment experiment = client::made_up_comparison();
  v1::Block& block = *experiment.mutable_configurations(0)->mutable_baseline()->mutable_blocks(3);
  block.set_disqualified(true);
  block.set_disqualified_because("thermal");
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  ASSERT_EQ(receipt.rows_size(), 2);
  const v1::ReceiptRow& faster = receipt.rows(0);
  EXPECT_EQ(faster.verdict().stages(1).candidate_median_ns(), 987'600);
  EXPECT_EQ(faster.baseline().outputs(0).digest(), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(faster.baseline().num_blocks(), 12U);
  EXPECT_EQ(faster.baseline().num_disqualified_blocks(), 1U);
  EXPECT_EQ(faster.baseline().disqualified_because(0), "thermal");
  EXPECT_EQ(receipt.rows(1).candidate().bits().drift().found_bits(), "0x3f800001");
}

TEST(ReceiptExperiment, TakesTheNewestVerdictOfAMoment) {
  v1::Experiment experiment = client::made_up_comparison();
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.mutable_verdicts(0)->set_judged_ns(100);
  v1::Verdict& later = *configuration.add_verdicts();
  later.set_verdict(v1::UNDECIDED);
  later.set_judged_ns(200);
  EXPECT_EQ(newest_judged_ns(experiment), 200);
  v1::Experiment earlier = experiment;
  keep_verdicts_until(199, earlier);
  EXPECT_EQ(newest_judged_ns(earlier), 100);
  EXPECT_EQ(receipt_experiment(earlier).rows(0).verdict().verdict(), v1::FASTER);
  EXPECT_EQ(receipt_experiment(experiment).rows(0).verdict().verdict(), v1::UNDECIDED);
  keep_verdicts_until(0, experiment);
  EXPECT_EQ(newest_judged_ns(experiment), 200);
  keep_verdicts_until(1, experiment);
  EXPECT_FALSE(receipt_experiment(experiment).rows(0).has_verdict());
  EXPECT_TRUE(
      admits(receipt_experiment(experiment), "1 configuration: no verdict had been made then"));
}

TEST(ReceiptExperiment, AdmitsWhatWasNotRun) {
  v1::Experiment experiment = client::made_up_comparison();
  experiment.set_state(v1::CANCELLED);
  experiment.set_message("by request");
  experiment.set_num_configurations(5);
  experiment.mutable_device()->set_backend("cpu");
  v1::Capability& capability = *experiment.mutable_device()->add_capabilities();
  capability.set_name("counters");
  capability.set_reason("no permission");
  v1::Configuration& crashed = *experiment.mutable_configurations(1);
  crashed.set_outcome(v1::CRASHED);
  crashed.set_message("signal 11");
  v1::Configuration& finished = *experiment.mutable_configurations(0);
  finished.mutable_baseline()->set_counters_missing("none here");
  finished.mutable_candidate()->set_counters_missing("none here");
  finished.mutable_candidate()->mutable_bits()->set_tolerance_known(false);
  finished.mutable_verdicts(0)->set_golden("none stored");
  experiment.mutable_spec()->add_counters("dram");
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  for (const char* line :
       {"the experiment ended as cancelled: by request",
        "3 of 5 configurations: the experiment ended before them",
        "configuration 2, kv=int8,n_q=2,width=2051,seed=0, one_cell against two_cell: crashed: "
        "signal 11",
        "hardware counters (2 arms): none here",
        "tolerance (1 arm): there is no reference",
        "goldens: none is stored for 1 configuration",
        "on a GPU: everything here ran on the backend cpu",
        "the device has not: counters: no permission"}) {
    EXPECT_TRUE(admits(receipt, line)) << line << "\n" << receipt.DebugString();
  }
  experiment.mutable_spec()->clear_counters();
  EXPECT_TRUE(admits(receipt_experiment(experiment), "hardware counters: not asked for"));
}

TEST(ReceiptExperiment, SumsUpTheCasesOfACheck) {
  v1::Experiment experiment = client::made_up_check();
  experiment.mutable_spec()->set_suite("parity");
  v1::CheckResult& parity = *experiment.mutable_configurations(0)->mutable_check();
  parity.set_not_run("isa=avx2: the cpu has it not");
  v1::CaseDigest& digest = *parity.add_digests();
  digest.set_workload("parity/fp16/0");
  digest.set_digest("0123456789abcdef0123456789abcdef");
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  ASSERT_EQ(receipt.checks_size(), 4);
  EXPECT_EQ(receipt.checks(0).result().digests_size(), 0);
  EXPECT_EQ(receipt.checks(0).cases_digest(),
            receipt_name("parity/fp16/0 0123456789abcdef0123456789abcdef\n"));
  EXPECT_EQ(receipt.checks(1).cases_digest(), "");
  EXPECT_EQ(receipt.checks(2).result().rejected_by(), v1::BITS_EQUAL);
  EXPECT_TRUE(admits(receipt, "configuration 1, parity/fp16: isa=avx2: the cpu has it not"));
  EXPECT_TRUE(admits(receipt, "suites other than parity: not asked for"));
}

TEST(ReceiptExperiment, RanksTheBestTenOfASweepAndCountsAll) {
  v1::Experiment experiment = client::made_up_sweep();
  client::add_try(experiment, "64", "1", v1::FASTER, 0.9);
  client::add_failed(experiment, "64", "2", v1::COMPILE, "line 3");
  client::add_failed(experiment, "64", "3", v1::COMPILE, "line 4");
  for (int i = 0; i < 12; ++i) {
    client::add_try(experiment, "64", std::to_string(4 + i), v1::SLOWER, 1.5 + i * 0.1);
  }
  client::add_dropped(experiment, "64", "99", 2.0);
  client::add_try(experiment, "128", "1", v1::FASTER, 0.5);
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  ASSERT_EQ(receipt.races_size(), 2);
  const v1::ReceiptRace& race = receipt.races(0);
  EXPECT_EQ(race.num_tried(), 16U);
  EXPECT_EQ(race.num_valid(), 14U);
  EXPECT_EQ(race.num_bits_equal(), 14U);
  ASSERT_EQ(race.ranking_size(), 10);
  EXPECT_EQ(race.ranking(0).standing(), "winner");
  EXPECT_EQ(race.ranking(0).arm().parameters(0).value(), "1");
  EXPECT_NEAR(race.ranking(1).ratio(), 1.5, 1e-9);
  ASSERT_EQ(race.failures_size(), 1);
  EXPECT_EQ(race.failures(0).num(), 2U);
  EXPECT_EQ(race.failures(0).message(), "line 3");
  ASSERT_EQ(race.standings_size(), 4);
  EXPECT_EQ(race.standings(1).label(), "behind");
  EXPECT_EQ(race.standings(1).num(), 12);
  EXPECT_EQ(receipt.races(1).num_tried(), 1U);
  EXPECT_TRUE(admits(receipt, "2 configurations on kv=int8,width=64,seed=0 not ranked: compile"));
  EXPECT_EQ(receipt.rows_size(), 0);
}

TEST(ReceiptExperiment, AdmitsWhatASweepLeftUntried) {
  v1::Experiment experiment = client::made_up_sweep();
  client::add_try(experiment, "64", "1", v1::FASTER, 0.9);
  const v1::ReceiptExperiment whole = receipt_experiment(experiment);
  experiment.set_message("5 of 6 configurations not tried: the budget of 4 s was spent");
  const v1::ReceiptExperiment cut = receipt_experiment(experiment);
  EXPECT_TRUE(admits(cut, experiment.message())) << cut.DebugString();
  EXPECT_EQ(cut.not_run_size(), whole.not_run_size() + 1);
}

TEST(ReceiptExperiment, CountsCeilingsWithoutTheirDevice) {
  v1::Experiment experiment = client::made_up_bench();
  experiment.mutable_configurations(0)->mutable_ceilings(0)->set_device_uuid("GPU-0123");
  const v1::ReceiptExperiment receipt = receipt_experiment(experiment);
  ASSERT_EQ(receipt.ceilings_size(), 4);
  EXPECT_EQ(receipt.ceilings(0).value(), 4.625e12);
  EXPECT_EQ(receipt.ceilings(0).device_uuid(), "");
  EXPECT_EQ(receipt.ceilings(0).experiment_id(), 0);
}

TEST(ReceiptExperiment, OfAnOperatorWithoutACheckTheReceiptSaysSo) {
  v1::Receipt receipt;
  *receipt.add_experiments() = receipt_experiment(client::made_up_comparison());
  *receipt.add_experiments() = receipt_experiment(client::made_up_comparison());
  add_not_run(receipt);
  ASSERT_EQ(receipt.not_run_size(), 1);
  EXPECT_EQ(receipt.not_run(0),
            "parity, invariances and mutants of qsa_decode: no CHECK of it is in this receipt");
  *receipt.add_experiments() = receipt_experiment(client::made_up_check());
  receipt.clear_not_run();
  add_not_run(receipt);
  EXPECT_EQ(receipt.not_run_size(), 0);
}

}  // namespace
}  // namespace assay::server
