#include "tests/client/commands_fixture.h"
#include "tests/client/sweep_fixtures.h"

namespace assay::client {
namespace {

class SweepCommands : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    service_.result = made_up_sweep();
    add_try(service_.result, "64", "2", v1::FASTER, 0.9);
    v1::OperatorInfo& info = *service_.operator_list.mutable_operators(0);
    info.add_axes()->set_name("width");
    for (const char* name : {"two_cell", "lane_cell"}) {
      v1::VariantInfo& variant = *info.add_variants();
      variant.set_name(name);
      variant.add_parameters()->set_name("threads");
    }
    info.mutable_variants(1)->add_parameters()->set_name("cells_per_step");
    info.mutable_variants(2)->add_parameters()->set_name("merge_batch");
  }

  // Of `assay sweep qsa_decode WORDS... --detach`.
  v1::ExperimentSpec spec_of(std::vector<std::string> words) {
    words.insert(words.begin(), {"sweep", "qsa_decode"});
    words.emplace_back("--detach");
    service_.submitted.clear();
    EXPECT_EQ(run_with(words), 0) << err();
    return service_.submitted.empty() ? v1::ExperimentSpec() : service_.submitted[0].spec();
  }
};

TEST_F(SweepCommands, RefuseWrongUsageWithStatusTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"sweep"}, "name an operator (see `assay operators`)"},
      {{"sweep", "--resume", "first"}, "expected a number from 1, or last"},
      {{"sweep", "qsa_decode", "--resume", "7"}, "--resume: takes no operator"},
      {{"sweep", "qsa_decode", "--budget", "0"}, "--budget: `0`: expected"},
      {{"sweep", "qsa_decode", "--budget", "-5"}, "--budget: `-5`: expected"},
      {{"sweep", "qsa_decode", "--drop-above", "5"}, "as in 1%"},
      {{"sweep", "qsa_decode", "--least-effect", "x"}, "as in 1%"},
      {{"sweep", "qsa_decode", "--interval-width", "1%"}, "--interval-width"},
      {{"sweep", "qsa_decode", "--schedule", "ab"}, "--schedule"},
      {{"sweep", "qsa_decode", "-a", "tile=[1,2]"},
       "-a: `tile` is neither an axis nor a launch parameter of `qsa_decode`: expected one of "
       "cells_per_step, merge_batch, threads, width"},
      {{"sweep", "qsa_decode", "-a", "merge_batch=[1,2]", "-a", "cells_per_step=[1,2]"},
       "--variant: no variant of `qsa_decode` has both merge_batch and cells_per_step"},
      {{"sweep", "qsa_decode", "--budget", "10x"},
       "--budget: `10x`: expected a running time, as in 60s, or a number of configurations"},
      {{"sweep", "qsa_decode", "--drop-above", "5"}, "--drop-above: effect `5`"},
      {{"sweep", "softmax"}, "operator `softmax`: expected one of qsa_decode"},
  };
  for (const auto& [arguments, expected] : cases) {
    EXPECT_EQ(run_with(arguments), 2) << expected;
    EXPECT_TRUE(said(expected)) << expected << " in: " << err();
    EXPECT_EQ(out(), "") << expected;
  }
  EXPECT_TRUE(service_.submitted.empty());
}

TEST_F(SweepCommands, SubmitWhatWasTyped) {
  const v1::ExperimentSpec spec = spec_of({"--variant",
                                           "two_cell:threads=2",
                                           "--baseline",
                                           "lane_cell",
                                           "-a",
                                           "cells_per_step=[2,4]",
                                           "-a",
                                           "width=[64:66]",
                                           "--strategy",
                                           "genetic",
                                           "--objective",
                                           "median",
                                           "--drop-above",
                                           "10%",
                                           "--least-effect",
                                           "2%",
                                           "--rounds",
                                           "24",
                                           "--calls",
                                           "3",
                                           "--cache",
                                           "cold",
                                           "--seed",
                                           "9"});
  EXPECT_EQ(spec.kind(), v1::SWEEP);
  EXPECT_EQ(spec.operator_name(), "qsa_decode");
  EXPECT_EQ(spec.device(), "cpu");
  EXPECT_EQ(spec.baseline().variant(), "lane_cell");
  ASSERT_EQ(spec.candidates_size(), 1);
  EXPECT_EQ(spec.candidates(0).parameters(0).value(), "2");
  ASSERT_EQ(spec.axes_size(), 2);
  EXPECT_EQ(spec.axes(1).values_size(), 3);
  EXPECT_EQ(spec.sweep().strategy(), "genetic");
  EXPECT_EQ(spec.sweep().objective(), "median");
  EXPECT_DOUBLE_EQ(spec.sweep().drop_above(), 0.1);
  EXPECT_EQ(spec.sweep().max_configurations(), 0U);
  EXPECT_EQ(spec.sweep().budget_ns(), 0);
  EXPECT_DOUBLE_EQ(spec.least_effect(), 0.02);
  EXPECT_EQ(spec.max_rounds(), 24U);
  EXPECT_EQ(spec.num_calls(), 3U);
  EXPECT_EQ(spec.cache_mode(), v1::COLD);
  EXPECT_EQ(spec.seed(), 9U);
}

TEST_F(SweepCommands, TakeABudgetForTimeOrForANumberOfConfigurations) {
  const v1::ExperimentSpec timed = spec_of({"--budget", "60s"});
  EXPECT_EQ(timed.sweep().budget_ns(), 60'000'000'000);
  EXPECT_EQ(timed.sweep().max_configurations(), 0U);
  EXPECT_EQ(timed.budget_ns(), 0) << "that of one configuration";
  const v1::ExperimentSpec counted = spec_of({"--budget", "200"});
  EXPECT_EQ(counted.sweep().budget_ns(), 0);
  EXPECT_EQ(counted.sweep().max_configurations(), 200U);
}

TEST_F(SweepCommands, WalkTheFirstVariantThatHasTheParametersNamed) {
  EXPECT_EQ(spec_of({}).candidates(0).variant(), "two_cell");
  EXPECT_EQ(spec_of({}).baseline().variant(), "one_cell");
  EXPECT_EQ(spec_of({"-a", "width=64", "-a", "threads=[1,2]"}).candidates(0).variant(), "two_cell");
  EXPECT_EQ(spec_of({"-a", "merge_batch=[1,2]"}).candidates(0).variant(), "lane_cell");
  EXPECT_TRUE(spec_of({"-a", "merge_batch=[1,2]"}).candidates(0).parameters().empty());
}

TEST_F(SweepCommands, TeachTheObjectivesOfAReplay) {
  EXPECT_EQ(run_with({"sweep", "--help"}), 0);
  EXPECT_TRUE(said("median; with --replay also mean or time")) << out();
}

TEST_F(SweepCommands, FollowASweepAndEndWithItsWinner) {
  EXPECT_EQ(run_with({"sweep", "qsa_decode"}), 0) << err();
  EXPECT_TRUE(said("\nwinner: two_cell:cells_per_step=2,threads=2, 1,111 us, ")) << out();
  EXPECT_TRUE(err().ends_with("experiment 7: done, 1 of 1 configurations\n")) << err();
}

TEST_F(SweepCommands, ResumeASweepAndFollowIt) {
  EXPECT_EQ(run_with({"sweep", "--resume", "7"}), 0) << err();
  EXPECT_EQ(run_with({"sweep", "--resume", "last"}), 0) << err();
  EXPECT_TRUE(said("\nwinner: ")) << out();
  EXPECT_EQ(run_with({"sweep", "--resume", "7", "--detach"}), 0) << err();
  EXPECT_EQ(out(), "experiment 7: queued, next\n");
  EXPECT_EQ(service_.resumed, (std::vector<std::int64_t>{7, 0, 7}));
  EXPECT_TRUE(service_.submitted.empty());
  service_.next_status = {grpc::StatusCode::FAILED_PRECONDITION, "experiment 7 is DONE"};
  EXPECT_EQ(run_with({"sweep", "--resume", "7"}), 1);
  EXPECT_EQ(err(), "assay: FAILED_PRECONDITION: experiment 7 is DONE\n");
}

}  // namespace
}  // namespace assay::client
