// Pages, filters, the worst verdict, estimates, and the views for people.
#include "db/store.h"
#include "tests/db/store_fixture.h"

namespace assay::db {
namespace {

using ListTest = StoreTest;

std::string ids(const v1::ListResponse& response) {
  std::string text;
  for (const v1::Experiment& experiment : response.experiments()) {
    text += std::to_string(experiment.experiment_id()) + " ";
  }
  return text;
}

v1::Configuration judged(std::uint32_t number, std::initializer_list<v1::VerdictKind> verdicts) {
  v1::Configuration configuration;
  configuration.set_configuration(number);
  configuration.set_outcome(v1::FINISHED);
  for (const v1::VerdictKind kind : verdicts) {
    configuration.add_verdicts()->set_verdict(kind);
  }
  return configuration;
}

v1::Configuration checked(std::uint32_t number, bool passed) {
  v1::Configuration configuration;
  configuration.set_configuration(number);
  configuration.set_outcome(v1::FINISHED);
  configuration.mutable_check()->set_passed(passed);
  return configuration;
}

TEST_F(ListTest, RefusesWhatIsNoPage) {
  const auto store = open();
  v1::ListRequest list;
  for (const char* token : {"x", "e", "e0", "e-1", "e1x", "g1"}) {
    list.set_page_token(token);
    EXPECT_EQ(store->list(list).status().code(), absl::StatusCode::kInvalidArgument) << token;
  }
  list.clear_page_token();
  list.set_page_size(1'001);
  EXPECT_EQ(store->list(list).status(),
            absl::InvalidArgumentError("page_size: must be at most 1,000"));
  list.set_page_size(0);
  list.set_state(static_cast<v1::TaskState>(77));
  EXPECT_EQ(store->list(list).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ListTest, PagesFromTheNewestAndEndsWithoutAToken) {
  const auto store = open();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(store->submit(request("r" + std::to_string(i)), 1, i).ok());
  }
  v1::ListRequest list;
  list.set_page_size(2);
  auto page = store->list(list);
  EXPECT_EQ(ids(*page), "5 4 ");
  // What comes in meanwhile moves no page.
  ASSERT_TRUE(store->submit(request("r6"), 1, 6).ok());
  list.set_page_token(page->next_page_token());
  page = store->list(list);
  EXPECT_EQ(ids(*page), "3 2 ");
  list.set_page_token(page->next_page_token());
  page = store->list(list);
  EXPECT_EQ(ids(*page), "1 ");
  EXPECT_EQ(page->next_page_token(), "");
}

TEST_F(ListTest, FiltersByStateOperatorAndDevice) {
  const auto store = open();
  ASSERT_TRUE(store->submit(request("one"), 1, 1).ok());
  ASSERT_TRUE(store->submit(request("two", "tree_attention"), 1, 1).ok());
  v1::SubmitRequest on_cuda = request("three");
  on_cuda.mutable_spec()->set_device("cuda0");
  ASSERT_TRUE(store->submit(on_cuda, 1, 1).ok());
  ASSERT_TRUE(store->finish(3, v1::CANCELLED, "", 2).ok());
  v1::ListRequest list;
  list.set_operator_name("qsa_decode");
  EXPECT_EQ(ids(*store->list(list)), "3 1 ");
  list.set_device("cpu");
  EXPECT_EQ(ids(*store->list(list)), "1 ");
  list.Clear();
  list.set_state(v1::CANCELLED);
  EXPECT_EQ(ids(*store->list(list)), "3 ");
  list.set_device("cpu");
  EXPECT_EQ(ids(*store->list(list)), "");
}

TEST_F(ListTest, TellsTheWorstOfTheNewestVerdicts) {
  const auto store = open();
  const auto worst = [&](const std::vector<v1::Configuration>& configurations) {
    const std::int64_t id = running(*store, static_cast<std::uint32_t>(configurations.size()));
    for (const v1::Configuration& configuration : configurations) {
      EXPECT_TRUE(store->add_configuration(id, configuration).ok());
    }
    return store->list({})->experiments(0).worst_verdict();
  };
  const std::vector<v1::VerdictKind> order = {
      v1::REJECTED, v1::SLOWER, v1::UNDECIDED, v1::SAME, v1::FASTER, v1::NOT_JUDGED};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    EXPECT_EQ(worst({judged(1, {order[i + 1]}), judged(2, {order[i]})}), order[i]);
  }
  EXPECT_EQ(worst({judged(1, {})}), v1::VERDICT_KIND_UNSPECIFIED);
  EXPECT_EQ(worst({judged(1, {v1::REJECTED, v1::FASTER})}), v1::FASTER);
  EXPECT_EQ(worst({checked(1, true), checked(2, false)}), v1::REJECTED);
  EXPECT_EQ(worst({checked(1, true)}), v1::VERDICT_KIND_UNSPECIFIED);
}

TEST_F(ListTest, EstimatesFromFinishedConfigurationsOfTheSameKind) {
  const auto store = open();
  const v1::ExperimentSpec spec = request("x").spec();
  EXPECT_EQ(*store->typical_configuration_ns(spec), 0);
  const std::int64_t id = running(*store, 4);
  for (const std::uint32_t number : {1U, 2U, 3U, 4U}) {
    v1::Configuration configuration = judged(number, {});
    configuration.set_elapsed_ns(number == 4 ? 900 : 10 * number);
    configuration.set_outcome(number == 4 ? v1::CRASHED : v1::FINISHED);
    ASSERT_TRUE(store->add_configuration(id, configuration).ok());
  }
  EXPECT_EQ(*store->typical_configuration_ns(spec), 20);
  v1::ExperimentSpec other = spec;
  other.set_kind(v1::CHECK);
  EXPECT_EQ(*store->typical_configuration_ns(other), 0);
}

TEST_F(ListTest, EstimatesAnItemOfACheckByTheMean) {
  const auto store = open();
  v1::SubmitRequest submit = request("a check");
  submit.mutable_spec()->set_kind(v1::CHECK);
  const auto experiment = store->submit(submit, 3, 1);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  v1::Device device;
  device.set_name("cpu");
  ASSERT_TRUE(store->start(experiment->experiment_id(), device, 2).ok());
  for (const std::uint32_t number : {1U, 2U, 3U}) {
    v1::Configuration configuration = judged(number, {});
    configuration.set_elapsed_ns(number == 1 ? 900 : 3);
    configuration.set_outcome(v1::FINISHED);
    ASSERT_TRUE(store->add_configuration(experiment->experiment_id(), configuration).ok());
  }
  EXPECT_EQ(*store->typical_configuration_ns(submit.spec()), 302);
}

TEST_F(ListTest, OffersViewsThatAnswerInRows) {
  const auto store = open();
  const std::int64_t id = running(*store, 1);
  v1::Configuration configuration = judged(1, {v1::FASTER});
  configuration.mutable_workload()->set_seed(9);
  v1::Measurement& candidate = *configuration.mutable_candidate();
  candidate.mutable_arm()->set_variant("two_cell");
  candidate.set_timing_source(v1::STEADY_CLOCK);
  v1::StageSamples& total = *candidate.add_stages();
  total.set_stage("total");
  total.add_samples_ns(30);
  total.add_samples_ns(40);
  candidate.add_outputs()->set_digest("abc");
  v1::StageVerdict& stage = *configuration.mutable_verdicts(0)->add_stages();
  stage.set_stage("total");
  stage.set_has_ratio(true);
  stage.set_ratio(0.75);
  v1::CaseDigest& check_case = *configuration.mutable_check()->add_digests();
  check_case.set_workload("parity/int8/17");
  check_case.set_digest("def");
  configuration.mutable_check()->set_passed(true);
  ASSERT_TRUE(store->add_configuration(id, configuration).ok());

  EXPECT_EQ(query("SELECT sum(sample_ns * sample) FROM samples WHERE variant = 'two_cell' AND"
                  " stage = 'total' AND timing_source = 'STEADY_CLOCK' AND workload = 'seed=9'"),
            "110");
  EXPECT_EQ(query("SELECT typeof(sample_ns) FROM samples"), "integer");
  EXPECT_EQ(query("SELECT ratio FROM verdicts WHERE is_newest AND verdict = 'FASTER' AND"
                  " candidate = 'two_cell' AND stage = 'total'"),
            "0.75");
  EXPECT_EQ(query("SELECT tensor FROM digests WHERE digest = 'def'"), "all");
  EXPECT_EQ(query("SELECT variant FROM digests WHERE digest = 'abc'"), "two_cell");
  EXPECT_EQ(query("SELECT arm FROM measurements WHERE role = 'candidate'"), "two_cell");
  EXPECT_EQ(query("SELECT name FROM devices"), "cpu");
  EXPECT_EQ(query("SELECT state FROM experiments"), "RUNNING");
}

}  // namespace
}  // namespace assay::db
