// Opening and refusing files, and what becomes of an experiment.
#include "db/store.h"

#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

#include <fstream>
#include <limits>
#include <unistd.h>

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

absl::Status status_of_open(const std::string& path) {
  StoreOptions options;
  options.path = path;
  return Store::open(options).status();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

v1::GetRequest get_request(std::int64_t id, bool include_samples = true) {
  v1::GetRequest get;
  get.set_experiment_id(id);
  get.set_include_samples(include_samples);
  return get;
}

TEST_F(StoreTest, RefusesASecondDaemonAndNamesThePidOfTheFirst) {
  const auto store = open();
  const absl::Status status = status_of_open(path());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("database in use by pid " + std::to_string(::getpid())),
            absl::string_view::npos)
      << status;
}

TEST_F(StoreTest, FindsTheSameLockThroughASymbolicLink) {
  const auto store = open();
  std::filesystem::create_symlink(path(), path("link"));
  EXPECT_EQ(status_of_open(path("link")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(StoreTest, RefusesAPathWithoutItsDirectory) {
  EXPECT_EQ(status_of_open(path("missing/assay.sqlite")).code(), absl::StatusCode::kNotFound);
}

TEST_F(StoreTest, RefusesADirectoryAndMemory) {
  EXPECT_EQ(status_of_open(directory_.string()).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status_of_open(":memory:").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(StoreTest, RefusesADirectoryThatItMayNotWrite) {
  // Root may write anywhere, so the test becomes somebody else.
  constexpr uid_t kNobody = 65534;
  std::filesystem::permissions(directory_, std::filesystem::perms{0555});
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const absl::Status status = status_of_open(path());
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  std::filesystem::permissions(directory_, std::filesystem::perms{0755});
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
}

TEST_F(StoreTest, RefusesWhatIsNoDatabaseAndLeavesItAlone) {
  const std::string text(8'192, 'x');
  write_file(path(), text);
  const absl::Status status = status_of_open(path());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(status.message().find("not an assay database"), absl::string_view::npos) << status;
  EXPECT_EQ(read_file(path()), text);
}

TEST_F(StoreTest, RefusesAnotherSpecUnderOneRequestId) {
  const auto store = open();
  ASSERT_TRUE(store->submit(request("one"), 1, 1).ok());
  const auto again = store->submit(request("one", "tree_attention"), 1, 2);
  EXPECT_EQ(again.status().code(), absl::StatusCode::kAlreadyExists) << again.status();
}

TEST_F(StoreTest, RefusesRequestIdsOfTheWrongSize) {
  const auto store = open();
  EXPECT_EQ(store->submit(request(""), 1, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store->submit(request(std::string(129, 'x')), 1, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(StoreTest, NamesWhatItDoesNotFind) {
  const auto store = open();
  EXPECT_EQ(store->get(get_request(0)).status(),
            absl::NotFoundError("experiment_id: there is no experiment yet"));
  EXPECT_EQ(store->get(get_request(12)).status(),
            absl::NotFoundError("experiment_id: no experiment 12"));
  EXPECT_EQ(store->start(12, {}, 1).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store->finish(12, v1::FAILED, "", 1).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store->add_configuration(12, full_configuration(1)).code(),
            absl::StatusCode::kNotFound);
  const std::int64_t id = running(*store, 3);
  v1::GetRequest get = get_request(id);
  get.set_configuration(2);
  EXPECT_EQ(store->get(get).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(StoreTest, KeepsTheOrderOfStates) {
  const auto store = open();
  const std::int64_t id = store->submit(request("one"), 1, 1)->experiment_id();
  EXPECT_EQ(store->add_configuration(id, full_configuration(1)).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store->start(id, {}, 2).ok());
  EXPECT_EQ(store->start(id, {}, 3).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store->finish(id, v1::RUNNING, "", 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store->finish(id, v1::DONE, "", 4).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store->add_configuration(id, full_configuration(1)).ok());
  ASSERT_TRUE(store->finish(id, v1::DONE, "fine", 5).ok());
  EXPECT_EQ(store->finish(id, v1::CANCELLED, "", 6).code(), absl::StatusCode::kFailedPrecondition);
  const auto experiment = store->get(get_request(0));
  EXPECT_EQ(experiment->state(), v1::DONE);
  EXPECT_EQ(experiment->message(), "fine");
  EXPECT_EQ(experiment->submitted_ns(), 1);
  EXPECT_EQ(experiment->started_ns(), 2);
  EXPECT_EQ(experiment->finished_ns(), 5);
}

TEST_F(StoreTest, RefusesAConfigurationTwiceOrOutOfRange) {
  const auto store = open();
  const std::int64_t id = running(*store, 2);
  ASSERT_TRUE(store->add_configuration(id, full_configuration(2)).ok());
  EXPECT_EQ(store->add_configuration(id, full_configuration(2)).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store->add_configuration(id, full_configuration(0)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store->add_configuration(id, full_configuration(3)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store->get(get_request(id))->num_finished(), 1U);
}

TEST_F(StoreTest, KeepsNoInfinityAndNoNanAndNothingOfAConfigurationThatHasOne) {
  const auto store = open();
  const std::int64_t id = running(*store, 1);
  v1::Configuration broken = full_configuration(1);
  broken.mutable_verdicts(1)->mutable_stages(1)->set_ratio(std::numeric_limits<double>::infinity());
  EXPECT_EQ(store->add_configuration(id, broken),
            absl::InvalidArgumentError("verdicts[1].stages[1].ratio: must be a finite number"));
  broken = full_configuration(1);
  broken.mutable_candidate()->mutable_bits()->set_tolerance_used(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(store->add_configuration(id, broken),
            absl::InvalidArgumentError("candidate.bits.tolerance_used: must be a finite number"));
  EXPECT_EQ(query("SELECT count(*) FROM t_configuration"), "0");
  EXPECT_EQ(query("SELECT count(*) FROM t_samples"), "0");
  EXPECT_EQ(store->get(get_request(id))->num_finished(), 0U);
}

TEST_F(StoreTest, ReturnsExactlyWhatWasStored) {
  v1::SubmitRequest full;
  fill(full);
  // Each name is there once.
  full.mutable_spec()->mutable_context()->mutable_labels(1)->set_name("another");
  v1::Device device;
  fill(device);
  std::int64_t id = 0;
  {
    const auto store = open();
    id = store->submit(full, 2, 11)->experiment_id();
    ASSERT_TRUE(store->start(id, device, 12).ok());
    ASSERT_TRUE(store->add_configuration(id, full_configuration(2)).ok());
    ASSERT_TRUE(store->add_configuration(id, full_configuration(1)).ok());
    ASSERT_TRUE(store->finish(id, v1::DONE, "all in", 13).ok());
  }

  EXPECT_EQ(query("SELECT count(*) FROM t_label l JOIN t_experiment e USING (experiment_id)"
                  " WHERE e.\"commit\" <> '' AND e.branch <> ''"),
            "2");

  // What a queue did at that moment is no property of the device.
  device.clear_queue_length();
  device.clear_running_experiment_id();
  v1::Experiment expected;
  expected.set_experiment_id(id);
  expected.set_request_id(full.request_id());
  *expected.mutable_spec() = full.spec();
  expected.set_state(v1::DONE);
  expected.set_message("all in");
  expected.set_submitted_ns(11);
  expected.set_started_ns(12);
  expected.set_finished_ns(13);
  expected.set_num_configurations(2);
  expected.set_num_finished(2);
  *expected.mutable_device() = device;
  *expected.add_configurations() = full_configuration(1);
  *expected.add_configurations() = full_configuration(2);
  expected.set_worst_verdict(v1::VERDICT_KIND_UNSPECIFIED);

  const auto found = open()->get(get_request(id));
  ASSERT_TRUE(found.ok()) << found.status();
  MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  EXPECT_TRUE(differencer.Compare(expected, *found)) << report;
}

TEST_F(StoreTest, LeavesOutSamplesAndOtherConfigurationsOnRequest) {
  const auto store = open();
  const std::int64_t id = running(*store, 3);
  for (const std::uint32_t number : {1U, 2U, 3U}) {
    ASSERT_TRUE(store->add_configuration(id, full_configuration(number)).ok());
  }
  v1::GetRequest get = get_request(id, false);
  get.set_configuration(2);
  const auto found = store->get(get);
  ASSERT_EQ(found->configurations_size(), 1);
  v1::Configuration expected = full_configuration(2);
  for (v1::Measurement* measurement : {expected.mutable_baseline(), expected.mutable_candidate()}) {
    measurement->clear_traced_blocks();
    for (auto* stages : {measurement->mutable_stages(),
                         measurement->mutable_event_stages(),
                         measurement->mutable_activity_stages()}) {
      for (v1::StageSamples& stage : *stages) {
        stage.clear_samples_ns();
      }
    }
  }
  EXPECT_TRUE(MessageDifferencer::Equals(expected, found->configurations(0)));
}

TEST_F(StoreTest, ReturnsTheSameExperimentForTheSameRequest) {
  const auto store = open();
  const auto first = store->submit(request("one"), 4, 1);
  const auto second = store->submit(request("one"), 4, 2);
  EXPECT_TRUE(MessageDifferencer::Equals(*first, *second));
  EXPECT_EQ(query("SELECT count(*) FROM experiments"), "1");
}

TEST_F(StoreTest, InterruptsWhatRanAndKeepsTheQueue) {
  std::int64_t ran = 0;
  {
    const auto store = open();
    ran = running(*store, 1);
    ASSERT_TRUE(store->submit(request("first"), 1, 1).ok());
    ASSERT_TRUE(store->submit(request("second"), 1, 1).ok());
  }
  const auto store = open();
  EXPECT_EQ(*store->interrupt_running(99), 1);
  EXPECT_EQ(*store->interrupt_running(99), 0);
  EXPECT_EQ(store->get(get_request(ran))->state(), v1::INTERRUPTED);
  EXPECT_EQ(store->get(get_request(ran))->finished_ns(), 99);
  const auto queued = store->queued();
  ASSERT_EQ(queued->size(), 2U);
  EXPECT_EQ(queued->at(0).request_id(), "first");
  EXPECT_EQ(queued->at(1).request_id(), "second");
}

}  // namespace
}  // namespace assay::db
