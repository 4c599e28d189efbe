#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

#include <filesystem>

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

class ArchiveTest : public StoreTest {
 protected:
  // A whole experiment as it comes out of a store.
  v1::Experiment whole(const std::string& request_id) const {
    v1::Experiment experiment;
    experiment.set_experiment_id(41);
    experiment.set_request_id(request_id);
    experiment.mutable_spec()->set_kind(v1::COMPARE);
    experiment.mutable_spec()->set_operator_name("qsa_decode");
    v1::Setting& label = *experiment.mutable_spec()->mutable_context()->add_labels();
    label.set_name("release");
    label.set_value("7");
    experiment.set_state(v1::DONE);
    experiment.set_submitted_ns(10);
    experiment.set_started_ns(11);
    experiment.set_finished_ns(12);
    experiment.set_num_configurations(2);
    experiment.set_num_finished(2);
    experiment.mutable_device()->set_uuid("GPU-1");
    *experiment.add_configurations() = full_configuration(1);
    *experiment.add_configurations() = full_configuration(2);
    for (v1::Configuration& configuration : *experiment.mutable_configurations()) {
      configuration.clear_ceilings();
    }
    return experiment;
  }

  static v1::Experiment get(const Store& store, std::int64_t id) {
    v1::GetRequest request;
    request.set_experiment_id(id);
    request.set_include_samples(true);
    const auto found = store.get(request);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::Experiment();
  }
};

TEST_F(ArchiveTest, StoresAWholeExperimentUnderAnIdOfItsOwn) {
  const auto store = open();
  ASSERT_TRUE(store->submit(request("first"), 1, 1).ok());
  const auto imported = store->add_archived(whole("nightly"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->source_id(), 41);
  EXPECT_EQ(imported->experiment_id(), 2);
  EXPECT_FALSE(imported->was_here());
  v1::Experiment found = get(*store, 2);
  v1::Experiment expected = whole("nightly");
  expected.set_experiment_id(2);
  expected.set_worst_verdict(found.worst_verdict());
  for (v1::Configuration& configuration : *expected.mutable_configurations()) {
    for (v1::Verdict& verdict : *configuration.mutable_verdicts()) {
      verdict.set_noise_floor_experiment_id(0);
    }
  }
  EXPECT_TRUE(MessageDifferencer::Equals(found, expected)) << found.DebugString();
  EXPECT_EQ(query("SELECT value FROM t_label WHERE experiment_id = 2"), "7");
}

TEST_F(ArchiveTest, LeavesAloneWhatIsThereAlready) {
  const auto store = open();
  ASSERT_TRUE(store->add_archived(whole("nightly")).ok());
  const auto again = store->add_archived(whole("nightly"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->was_here());
  EXPECT_EQ(again->experiment_id(), 1);
  EXPECT_EQ(query("SELECT count(*) FROM t_experiment"), "1");
  EXPECT_EQ(query("SELECT count(*) FROM t_configuration"), "2");
}

TEST_F(ArchiveTest, TakesAnExperimentThatEndedBeforeItsFirstConfiguration) {
  const auto store = open();
  v1::Experiment experiment = whole("cancelled");
  experiment.set_state(v1::CANCELLED);
  experiment.clear_configurations();
  const auto imported = store->add_archived(experiment);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(get(*store, 1).worst_verdict(), v1::VERDICT_KIND_UNSPECIFIED);
  EXPECT_EQ(query("SELECT severity FROM t_experiment"), "7");
}

TEST_F(ArchiveTest, KnowsAConfirmationAgainAndKeepsThatItIsOne) {
  const auto store = open();
  v1::SubmitRequest rerun = request("assay: regression 5 again after 0");
  rerun.mutable_spec()->set_confirms_regression_id(5);
  ASSERT_TRUE(store->submit(rerun, 1, 10).ok());
  ASSERT_TRUE(store->finish(1, v1::CANCELLED, "", 12).ok());
  const v1::Experiment own = get(*store, 1);
  const auto here = store->add_archived(own);
  ASSERT_TRUE(here.ok()) << here.status();
  EXPECT_TRUE(here->was_here());
  EXPECT_EQ(here->experiment_id(), 1);
  EXPECT_EQ(get(*store, 1).spec().confirms_regression_id(), 5);

  // Of another database, whose regression 5 is another one.
  v1::Experiment other = own;
  other.set_submitted_ns(11);
  for (const bool was_here : {false, true}) {
    const auto imported = store->add_archived(other);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_EQ(imported->was_here(), was_here);
    EXPECT_EQ(imported->experiment_id(), 2);
  }
  EXPECT_EQ(get(*store, 2).spec().confirms_regression_id(), -1);
  EXPECT_EQ(query("SELECT count(*) FROM t_experiment"), "2");
}

TEST_F(ArchiveTest, TellsTwoExperimentsOfOneRequestIdApartAndKnowsBothAgain) {
  const auto store = open();
  v1::Experiment other = whole("nightly");
  other.mutable_spec()->set_seed(9);
  ASSERT_TRUE(store->add_archived(whole("nightly")).ok());
  const auto second = store->add_archived(other);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(second->was_here());
  EXPECT_EQ(get(*store, 2).request_id().rfind("nightly@", 0), 0U);
  const auto again = store->add_archived(other);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->was_here());
  EXPECT_EQ(again->experiment_id(), 2);
  EXPECT_EQ(query("SELECT count(*) FROM t_experiment"), "2");
}

TEST_F(ArchiveTest, StoresNothingOfAnExperimentThatCannotBeStored) {
  const auto store = open();
  v1::Experiment experiment = whole("nightly");
  experiment.mutable_configurations(1)->set_configuration(1);
  const auto imported = store->add_archived(experiment);
  EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument) << imported.status();
  EXPECT_NE(imported.status().message().find("configurations[1]"), absl::string_view::npos);
  EXPECT_EQ(query("SELECT count(*) FROM t_experiment"), "0");
  EXPECT_EQ(query("SELECT count(*) FROM t_measurement"), "0");
}

TEST_F(ArchiveTest, CopiesTheDatabaseWhileItIsInUse) {
  const auto store = open();
  ASSERT_TRUE(store->add_archived(whole("nightly")).ok());
  ASSERT_TRUE(store->back_up(path("copy")).ok());
  ASSERT_TRUE(store->submit(request("later"), 1, 1).ok());
  EXPECT_EQ(store->back_up(path("copy")).code(), absl::StatusCode::kFailedPrecondition);
  const auto copy = Store::open({.path = path("copy")});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(get(**copy, 1).SerializeAsString(), get(*store, 1).SerializeAsString());
  EXPECT_EQ((*copy)->list({})->experiments_size(), 1);
}

TEST_F(ArchiveTest, LeavesNoFileOfACopyThatFailed) {
  const auto store = open();
  const absl::Status status = store->back_up(path("no such folder/copy"));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_FALSE(std::filesystem::exists(path("no such folder")));
}

}  // namespace
}  // namespace assay::db
