// Pages, filters, the worst verdict, estimates, and the views for people.
#include "db/connection.h"
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

TEST_F(ListTest, RefusesFiltersThatAreNone) {
  const auto store = open();
  const auto error_of = [&store](const auto& change) {
    v1::ListRequest list;
    change(list);
    const absl::Status status = store->list(list).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(error_of([](auto& list) { list.set_kind(static_cast<v1::ExperimentKind>(77)); }),
            "kind: there is no such value, 77");
  EXPECT_EQ(error_of([](auto& list) { list.set_verdict(static_cast<v1::VerdictKind>(-1)); }),
            "verdict: there is no such value, -1");
  for (const std::string& commit :
       {std::string("abc"), std::string(65, 'a'), std::string("abcx")}) {
    EXPECT_EQ(error_of([&](auto& list) { list.set_commit(commit); }),
              "commit: `" + commit + "` must be 4 to 64 hexadecimal digits");
  }
  EXPECT_EQ(error_of([](auto& list) { list.add_labels()->set_value("x"); }),
            "labels[0].name: must not be empty");
  EXPECT_EQ(error_of([](auto& list) {
              for (int i = 0; i < 33; ++i) {
                list.add_labels()->set_name("x");
              }
            }),
            "labels: must be at most 32");
  EXPECT_EQ(error_of([](auto& list) { list.set_submitted_before_ns(-1); }),
            "submitted_after_ns, submitted_before_ns: must not be negative");
}

v1::SubmitRequest with_context(const std::string& id,
                               const std::string& commit,
                               const std::string& branch,
                               const std::vector<std::pair<std::string, std::string>>& labels) {
  v1::SubmitRequest submit = request(id);
  v1::Context& context = *submit.mutable_spec()->mutable_context();
  context.set_commit(commit);
  context.set_branch(branch);
  for (const auto& [name, value] : labels) {
    v1::Setting& label = *context.add_labels();
    label.set_name(name);
    label.set_value(value);
  }
  return submit;
}

TEST_F(ListTest, FiltersByWhatAnExperimentIsPartOf) {
  const auto store = open();
  ASSERT_TRUE(store->submit(with_context("1", "abcdef0123", "main", {{"pr", "7"}}), 1, 10).ok());
  ASSERT_TRUE(
      store->submit(with_context("2", "abcd1234ff", "side", {{"pr", "8"}, {"nightly", ""}}), 1, 20)
          .ok());
  ASSERT_TRUE(store->submit(request("3"), 1, 30).ok());
  v1::SubmitRequest check = request("4");
  check.mutable_spec()->set_kind(v1::CHECK);
  check.mutable_spec()->clear_baseline();
  ASSERT_TRUE(store->submit(check, 1, 40).ok());
  v1::SubmitRequest many = request("5");
  for (const char* variant : {"two_cell", "one_cell", "o\"dd", "two_cell"}) {
    many.mutable_spec()->add_candidates()->set_variant(variant);
  }
  ASSERT_TRUE(store->submit(many, 1, 50).ok());

  const auto found = [&store](const auto& change) {
    v1::ListRequest list;
    change(list);
    const auto response = store->list(list);
    return response.ok() ? ids(*response) : response.status().ToString();
  };
  EXPECT_EQ(found([](auto& list) { list.set_commit("abcd"); }), "2 1 ");
  EXPECT_EQ(found([](auto& list) { list.set_commit("ABCDE"); }), "1 ");
  EXPECT_EQ(found([](auto& list) { list.set_commit("abcdf"); }), "");
  EXPECT_EQ(found([](auto& list) { list.set_branch("main"); }), "1 ");
  const auto label = [](auto& list, const std::string& name, const std::string& value) {
    v1::Setting& setting = *list.add_labels();
    setting.set_name(name);
    setting.set_value(value);
  };
  EXPECT_EQ(found([&](auto& list) { label(list, "pr", ""); }), "2 1 ");
  EXPECT_EQ(found([&](auto& list) { label(list, "pr", "7"); }), "1 ");
  EXPECT_EQ(found([&](auto& list) { label(list, "7", "pr"); }), "");
  EXPECT_EQ(found([&](auto& list) {
              label(list, "pr", "8");
              label(list, "nightly", "");
            }),
            "2 ");
  EXPECT_EQ(found([&](auto& list) {
              label(list, "pr", "7");
              label(list, "nightly", "");
            }),
            "");
  EXPECT_EQ(found([](auto& list) { list.set_kind(v1::CHECK); }), "4 ");
  EXPECT_EQ(found([](auto& list) { list.set_variant("one_cell"); }), "5 3 2 1 ");
  EXPECT_EQ(found([](auto& list) { list.set_variant("two_cell"); }), "5 ");
  EXPECT_EQ(found([](auto& list) { list.set_variant("o\"dd"); }), "5 ");
  EXPECT_EQ(found([](auto& list) { list.set_variant("two"); }), "");
  EXPECT_EQ(found([](auto& list) { list.set_submitted_after_ns(20); }), "5 4 3 2 ");
  EXPECT_EQ(found([](auto& list) { list.set_submitted_before_ns(20); }), "1 ");
  EXPECT_EQ(found([](auto& list) {
              list.set_submitted_after_ns(20);
              list.set_submitted_before_ns(40);
              list.set_state(v1::QUEUED);
              list.set_variant("one_cell");
            }),
            "3 2 ");
}

TEST_F(ListTest, FiltersByWhatBecameOfIt) {
  const auto store = open();
  v1::Device device;
  device.set_name("cpu");
  device.set_uuid("cpu-1234");
  const auto judge = [&](v1::VerdictKind kind) {
    const auto id = store->submit(request(v1::VerdictKind_Name(kind)), 1, 1)->experiment_id();
    EXPECT_TRUE(store->start(id, device, 2).ok());
    EXPECT_TRUE(store->add_configuration(id, judged(1, {kind})).ok());
  };
  for (const v1::VerdictKind kind :
       {v1::REJECTED, v1::SLOWER, v1::UNDECIDED, v1::SAME, v1::FASTER, v1::NOT_JUDGED}) {
    judge(kind);
    v1::ListRequest list;
    list.set_verdict(kind);
    const auto response = store->list(list);
    ASSERT_EQ(response->experiments_size(), 1) << v1::VerdictKind_Name(kind);
    EXPECT_EQ(response->experiments(0).worst_verdict(), kind);
  }
  ASSERT_TRUE(store->submit(request("not started"), 1, 1).ok());
  v1::ListRequest list;
  list.set_device("cpu-1234");
  EXPECT_EQ(ids(*store->list(list)), "6 5 4 3 2 1 ");
  list.set_device("cpu");
  EXPECT_EQ(ids(*store->list(list)), "7 6 5 4 3 2 1 ");
  list.Clear();
  list.set_only_changes(true);
  EXPECT_EQ(ids(*store->list(list)), "");
  const auto connection = *Connection::open(path(), Connection::Mode::kWrite);
  ASSERT_TRUE(
      connection
          ->execute("INSERT INTO t_series VALUES (1, '', '', '', '', '', '', '', '', '', '', 0);"
                    "INSERT INTO t_change VALUES (1, 4, 'TIME_CHANGED', ''),"
                    " (1, 4, 'BITS_CHANGED', ''), (1, 2, 'TIME_CHANGED', '')")
          .ok());
  EXPECT_EQ(ids(*store->list(list)), "4 2 ");
}

// No filter makes a page read the rows of the table.
TEST_F(ListTest, KeepsEveryFilterInTheIndexOfPages) {
  { ASSERT_TRUE(open() != nullptr); }
  EXPECT_EQ(query("SELECT group_concat(name, ' ') FROM pragma_index_info('t_experiment_page')"),
            "experiment_id state operator_name device kind severity submitted_ns commit branch"
            " device_id variants");
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

  // Judged again: the newest counts, for better or for worse.
  const std::int64_t id = running(*store, 2);
  ASSERT_TRUE(store->add_configuration(id, judged(1, {v1::SLOWER})).ok());
  ASSERT_TRUE(store->add_configuration(id, judged(2, {v1::UNDECIDED})).ok());
  const auto judge_again = [&](std::uint32_t configuration, v1::VerdictKind kind) {
    v1::Verdict verdict;
    verdict.set_verdict(kind);
    EXPECT_TRUE(store->add_verdict(id, configuration, verdict).ok());
    return store->list({})->experiments(0).worst_verdict();
  };
  EXPECT_EQ(judge_again(1, v1::FASTER), v1::UNDECIDED);
  EXPECT_EQ(judge_again(2, v1::SAME), v1::SAME);
  EXPECT_EQ(judge_again(1, v1::REJECTED), v1::REJECTED);
}

TEST_F(ListTest, CountsNoLostRaceAgainstASweep) {
  const auto store = open();
  const auto sweep = [&](std::initializer_list<v1::VerdictKind> kinds) {
    v1::SubmitRequest asked = request("sweep " + query("SELECT count(*) FROM t_experiment"));
    asked.mutable_spec()->set_kind(v1::SWEEP);
    const auto id =
        store->submit(asked, static_cast<std::uint32_t>(kinds.size()), 1)->experiment_id();
    EXPECT_TRUE(store->start(id, {}, 2).ok());
    std::uint32_t number = 0;
    for (const v1::VerdictKind kind : kinds) {
      EXPECT_TRUE(store->add_configuration(id, judged(++number, {kind})).ok());
    }
    return store->list({})->experiments(0).worst_verdict();
  };
  const auto listed = [&](v1::VerdictKind kind) {
    v1::ListRequest list;
    list.set_verdict(kind);
    return ids(*store->list(list));
  };
  EXPECT_EQ(sweep({v1::FASTER, v1::SLOWER}), v1::NOT_JUDGED);
  EXPECT_EQ(sweep({v1::SLOWER, v1::REJECTED}), v1::REJECTED);
  EXPECT_EQ(sweep({}), v1::VERDICT_KIND_UNSPECIFIED);
  EXPECT_EQ(query("SELECT group_concat(worst, ' ') FROM (SELECT worst_verdict AS worst"
                  " FROM experiments ORDER BY experiment_id)"),
            "NOT_JUDGED REJECTED VERDICT_KIND_UNSPECIFIED");
  EXPECT_EQ(listed(v1::SLOWER), "");
  EXPECT_EQ(listed(v1::NOT_JUDGED), "1 ");
  EXPECT_EQ(listed(v1::REJECTED), "2 ");
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

  v1::SubmitRequest submit = with_context("c", "abcdef0", "main", {{"pr", "7"}});
  submit.mutable_spec()->mutable_context()->set_dirty(true);
  submit.mutable_spec()->mutable_context()->set_committed_ns(5);
  submit.mutable_spec()->mutable_context()->set_note("why");
  ASSERT_TRUE(store->submit(submit, 1, 1).ok());
  EXPECT_EQ(query("SELECT \"commit\" || committed_ns || dirty || branch || note || variants"
                  " FROM experiments WHERE experiment_id = 2"),
            "abcdef051mainwhy[\"one_cell\"]");
  EXPECT_EQ(query("SELECT experiment_id || name || value FROM labels"), "2pr7");
}

}  // namespace
}  // namespace assay::db
