#include "server/archive.h"

#include "server/points.h"
#include "tests/temporary_folder.h"
#include "tuning/content_digest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

using Entries = std::vector<v1::ArchiveEntry>;

class ArchiveTest : public testing::Test {
 protected:
  ArchiveTest() : store_(open("assay.db")), archive_(*store_, [] { return 77; }) {}

  std::unique_ptr<db::Store> open(const std::string& name) const {
    auto store = db::Store::open({.path = folder_ / name});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static v1::Experiment experiment(const std::string& request_id, std::uint32_t num) {
    v1::Experiment experiment;
    experiment.set_request_id(request_id);
    experiment.mutable_spec()->set_kind(v1::COMPARE);
    experiment.mutable_spec()->set_operator_name("op");
    experiment.mutable_spec()->mutable_baseline()->set_variant("a");
    experiment.mutable_spec()->add_candidates()->set_variant("b");
    experiment.set_state(v1::DONE);
    experiment.set_num_finished(num);
    experiment.set_num_configurations(num);
    for (std::uint32_t i = 1; i <= num; ++i) {
      v1::Configuration& configuration = *experiment.add_configurations();
      configuration.set_configuration(i);
      configuration.set_outcome(v1::FINISHED);
      configuration.mutable_baseline()->mutable_arm()->set_variant("a");
      v1::StageSamples& samples = *configuration.mutable_baseline()->add_stages();
      samples.set_stage("total");
      samples.add_samples_ns(i);
    }
    return experiment;
  }

  absl::StatusOr<Entries> send(const v1::ExportRequest& request,
                               std::int64_t max_bytes = 1'000'000) const {
    Entries entries;
    const absl::Status status =
        archive_.send(request, max_bytes, [&](const v1::ArchiveEntry& entry) {
          entries.push_back(entry);
          return true;
        });
    return status.ok() ? absl::StatusOr<Entries>(entries) : status;
  }

  static absl::StatusOr<v1::ImportArchiveResponse> receive(Archive& archive, Entries entries) {
    std::size_t place = 0;
    return archive.receive([&](v1::ArchiveEntry& entry) {
      if (place == entries.size()) {
        return false;
      }
      entry = entries[place++];
      return true;
    });
  }

  static v1::ExportRequest all() { return {}; }

  Folder folder_;
  std::unique_ptr<db::Store> store_;
  Archive archive_;
};

TEST_F(ArchiveTest, BringsExperimentsAndTheirSourcesIntoAnotherDatabase) {
  v1::SourceSpec source;
  source.set_name("scale");
  source.add_tensors()->mutable_fill()->set_digest(tuning::content_digest("data"));
  const std::string bytes = source.SerializeAsString();
  ASSERT_TRUE(store_->add_blob(tuning::content_digest("data"), "data", 1).ok());
  ASSERT_TRUE(store_->add_blob(tuning::content_digest(bytes), bytes, 1).ok());
  v1::Experiment on_source = experiment("source", 2);
  on_source.mutable_spec()->set_source_digest(tuning::content_digest(bytes));
  ASSERT_TRUE(store_->add_archived(on_source).ok());
  ASSERT_TRUE(store_->add_archived(experiment("plain", 1)).ok());

  const auto entries = send(all());
  ASSERT_TRUE(entries.ok()) << entries.status();
  const auto other = open("other.db");
  Archive archive(*other, [] { return 78; });
  const auto imported = receive(archive, *entries);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->experiments_size(), 2);
  EXPECT_TRUE(*other->has_blob(tuning::content_digest("data")));
  EXPECT_TRUE(*other->has_blob(tuning::content_digest(bytes)));
  v1::GetRequest get;
  get.set_experiment_id(1);
  get.set_include_samples(true);
  EXPECT_EQ(other->get(get)->SerializeAsString(), store_->get(get)->SerializeAsString());

  const auto again = receive(archive, *entries);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->experiments(0).was_here() && again->experiments(1).was_here());
  EXPECT_EQ(other->list({})->experiments_size(), 2);
}

TEST_F(ArchiveTest, ExportsOnlyWhatHasEnded) {
  v1::SubmitRequest queued;
  queued.set_request_id("queued");
  queued.mutable_spec()->set_kind(v1::COMPARE);
  ASSERT_TRUE(store_->submit(queued, 1, 1).ok());
  ASSERT_TRUE(store_->add_archived(experiment("done", 1)).ok());
  const auto entries = send(all());
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(entries->front().header().num_experiments(), 1U);
  v1::ExportRequest one;
  one.add_experiment_ids(1);
  const auto refused = send(one);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("experiment 1 is QUEUED"), absl::string_view::npos);
}

TEST_F(ArchiveTest, NamesAConfigurationThatNoMessageHolds) {
  ASSERT_TRUE(store_->add_archived(experiment("done", 1)).ok());
  const auto entries = send(all(), 10);
  EXPECT_EQ(entries.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(entries.status().message().find("experiment 1: configuration 1 has"),
            absl::string_view::npos)
      << entries.status();
}

TEST_F(ArchiveTest, SaysWhereAnArchiveIsCutOffAndKeepsWhatCameBefore) {
  ASSERT_TRUE(store_->add_archived(experiment("first", 1)).ok());
  ASSERT_TRUE(store_->add_archived(experiment("second", 2)).ok());
  Entries entries = *send(all());
  entries.pop_back();
  const auto other = open("other.db");
  Archive archive(*other, [] { return 78; });
  const auto cut = receive(archive, entries);
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kDataLoss) << cut.status();
  EXPECT_EQ(other->list({})->experiments_size(), 1);
  entries.resize(3);
  EXPECT_EQ(receive(archive, entries).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ArchiveTest, RefusesWhatIsNoArchive) {
  v1::ArchiveEntry header;
  header.mutable_header()->set_format_version(2);
  v1::ArchiveEntry known;
  known.mutable_header()->set_format_version(1);
  v1::ArchiveEntry configuration;
  configuration.mutable_configuration()->set_configuration(1);
  v1::ArchiveEntry running;
  *running.mutable_experiment() = experiment("x", 0);
  running.mutable_experiment()->set_state(v1::RUNNING);
  v1::ArchiveEntry blob;
  blob.mutable_blob()->set_digest(tuning::content_digest("data"));
  blob.mutable_blob()->set_num_bytes(4);
  blob.mutable_blob()->set_data("date");
  const std::vector<std::pair<Entries, std::string>> faults = {
      {{}, "header: there is no first entry"},
      {{configuration}, "header: an archive begins with one"},
      {{header}, "header.format_version: is 2"},
      {{known, configuration}, "configuration: comes before its experiment"},
      {{known, running}, "experiment 0: state: must be a final one"},
      {{known, known}, "entry: expected"},
      {{known, blob}, "is not what its digest"},
  };
  for (const auto& [entries, words] : faults) {
    const auto refused = receive(archive_, entries);
    EXPECT_NE(refused.status().message().find(words), absl::string_view::npos) << refused.status();
  }
  EXPECT_EQ(store_->list({})->experiments_size(), 0);
}

TEST_F(ArchiveTest, TakesNoExperimentThatNoDaemonWouldHaveRun) {
  using Change = std::function<void(v1::Experiment&)>;
  const auto label =
      [](v1::Experiment& changed, const std::string& name, const std::string& value) {
        v1::Setting& setting = *changed.mutable_spec()->mutable_context()->add_labels();
        setting.set_name(name);
        setting.set_value(value);
      };
  const std::vector<std::pair<Change, std::string>> faults = {
      {[](auto& changed) { changed.clear_request_id(); }, "request_id: must be 1 to 145 bytes"},
      {[](auto& changed) { changed.set_request_id(std::string(146, 'x')); },
       "request_id: must be 1 to 145 bytes"},
      {[](auto& changed) { changed.set_submitted_ns(std::numeric_limits<std::int64_t>::min()); },
       "submitted_ns: must not be negative"},
      {[](auto& changed) { changed.set_started_ns(-1); }, "started_ns: must not be negative"},
      {[](auto& changed) { changed.set_finished_ns(-1); }, "finished_ns: must not be negative"},
      {[](auto& changed) { changed.clear_spec(); }, "spec.kind: must be"},
      {[](auto& changed) { changed.mutable_spec()->clear_operator_name(); },
       "spec.operator_name: missing"},
      {[](auto& changed) { changed.mutable_spec()->clear_baseline(); },
       "spec.baseline.variant: missing"},
      {[](auto& changed) { changed.mutable_spec()->clear_candidates(); },
       "spec.candidates: a COMPARE needs at least one"},
      {[](auto& changed) { changed.mutable_spec()->mutable_context()->set_commit("*main*"); },
       "spec.context.commit: must be"},
      {[](auto& changed) {
         changed.mutable_spec()->mutable_context()->set_branch(std::string("a\0b", 3));
       },
       "spec.context.branch: has a NUL character"},
      {[](auto& changed) {
         changed.mutable_spec()->mutable_context()->set_note(std::string(4'001, 'x'));
       },
       "spec.context.note: has 4001 bytes"},
      {[&](auto& changed) { label(changed, "a=b", ""); }, "spec.context.labels[0].name: must be"},
      {[&](auto& changed) { label(changed, "a", std::string(100'000, 'x')); },
       "spec.context.labels[0].value: has 100000 bytes"},
      {[&](auto& changed) {
         label(changed, "a", "1");
         label(changed, "a", "2");
       },
       "spec.context.labels[1].name: `a` is there already"},
  };
  for (const auto& [change, words] : faults) {
    Entries entries(2);
    entries[0].mutable_header()->set_format_version(1);
    entries[0].mutable_header()->set_num_experiments(1);
    *entries[1].mutable_experiment() = experiment("x", 0);
    entries[1].mutable_experiment()->set_experiment_id(41);
    ASSERT_TRUE(receive(archive_, entries).ok());
    entries[1].mutable_experiment()->set_request_id("y");
    change(*entries[1].mutable_experiment());
    const auto refused = receive(archive_, entries);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << words;
    EXPECT_EQ(refused.status().message().find("experiment 41: " + words), 0U) << refused.status();
  }
  EXPECT_EQ(store_->list({})->experiments_size(), 1);
}

TEST_F(ArchiveTest, KeepsWhatCameBeforeOneThatItRefuses) {
  Entries entries(3);
  entries[0].mutable_header()->set_format_version(1);
  entries[0].mutable_header()->set_num_experiments(2);
  *entries[1].mutable_experiment() = experiment("good", 0);
  *entries[2].mutable_experiment() = experiment("", 0);
  EXPECT_EQ(receive(archive_, entries).status().code(), absl::StatusCode::kInvalidArgument);
  const auto newest = store_->get({});
  ASSERT_TRUE(newest.ok()) << newest.status();
  EXPECT_EQ(newest->request_id(), "good");
}

TEST_F(ArchiveTest, TakesNoSampleThatIsNoTimeOfACall) {
  for (const std::int64_t sample_ns :
       {std::int64_t{-5}, std::int64_t{86'400'000'000'001}, std::int64_t{0}}) {
    v1::Experiment whole = experiment("x", 1);
    Entries entries(3);
    entries[0].mutable_header()->set_format_version(1);
    entries[0].mutable_header()->set_num_experiments(1);
    *entries[2].mutable_configuration() = whole.configurations(0);
    v1::StageSamples& stage =
        *entries[2].mutable_configuration()->mutable_candidate()->add_event_stages();
    stage.add_samples_ns(1);
    stage.add_samples_ns(sample_ns);
    whole.clear_configurations();
    whole.set_experiment_id(41);
    *entries[1].mutable_experiment() = whole;
    const auto received = receive(archive_, entries);
    EXPECT_EQ(received.ok(), sample_ns == 0) << sample_ns;
    if (sample_ns != 0) {
      EXPECT_EQ(received.status(),
                absl::InvalidArgumentError(
                    "experiment 41: configuration 1: candidate.event_stages[0].samples_ns[1]: must "
                    "be in [0, 86,400,000,000,000]"));
    }
  }
}

TEST_F(ArchiveTest, BringsBackNoConfirmationAsAPoint) {
  v1::Experiment confirmation = experiment("assay: regression 3 again after 0", 0);
  confirmation.mutable_spec()->set_kind(v1::MEASURE);
  confirmation.mutable_spec()->clear_candidates();
  confirmation.mutable_spec()->set_confirms_regression_id(3);
  Entries entries(2);
  entries[0].mutable_header()->set_format_version(1);
  entries[0].mutable_header()->set_num_experiments(1);
  *entries[1].mutable_experiment() = confirmation;
  const auto imported = receive(archive_, entries);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_FALSE(makes_points(store_->get({})->spec()));
}

TEST_F(ArchiveTest, SendsACopyInPiecesAndLeavesNoFile) {
  ASSERT_TRUE(store_->add_archived(experiment("done", 3)).ok());
  std::string bytes;
  std::int64_t num_bytes = 0;
  const absl::Status status = archive_.back_up([&](const v1::BackupChunk& chunk) {
    num_bytes += chunk.num_bytes();
    bytes += chunk.data();
    return true;
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), num_bytes);
  EXPECT_EQ(bytes.substr(0, 15), "SQLite format 3");
  const absl::Status left =
      archive_.back_up([](const v1::BackupChunk& /*chunk*/) { return false; });
  EXPECT_EQ(left.code(), absl::StatusCode::kCancelled);
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "")) {
    EXPECT_EQ(file.path().string().find("backup"), std::string::npos) << file.path();
  }
}

TEST_F(ArchiveTest, RefusesToPruneWithoutATimeOrOfTheFuture) {
  v1::PruneRequest request;
  EXPECT_EQ(archive_.prune(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_finished_before_ns(78);
  EXPECT_EQ(archive_.prune(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_finished_before_ns(77);
  EXPECT_TRUE(archive_.prune(request).ok());
  request.add_keep_labels();
  EXPECT_EQ(archive_.prune(request).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay::server
