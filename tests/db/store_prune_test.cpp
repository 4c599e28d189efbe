#include "tests/db/store_fixture.h"

#include <map>

namespace assay::db {
namespace {

class PruneTest : public StoreTest {
 protected:
  PruneTest() : store_(open()) {}

  // One that ended at a time, with samples and digests.
  std::int64_t ended(const std::string& request_id, std::int64_t finished_ns) {
    v1::Experiment experiment;
    experiment.set_request_id(request_id);
    experiment.mutable_spec()->set_kind(v1::COMPARE);
    experiment.set_state(v1::DONE);
    experiment.set_finished_ns(finished_ns);
    *experiment.add_configurations() = full_configuration(1);
    experiment.mutable_configurations(0)->clear_ceilings();
    experiment.mutable_spec()->set_source_digest(source_);
    if (!label_.name().empty()) {
      *experiment.mutable_spec()->mutable_context()->add_labels() = label_;
    }
    const auto imported = store_->add_archived(experiment);
    EXPECT_TRUE(imported.ok()) << imported.status();
    return imported.ok() ? imported->experiment_id() : 0;
  }

  v1::PruneResponse prune(v1::PruneRequest request) {
    if (request.finished_before_ns() == 0) {
      request.set_finished_before_ns(100);
    }
    const auto pruned = store_->prune(request);
    EXPECT_TRUE(pruned.ok()) << pruned.status();
    return pruned.ok() ? *pruned : v1::PruneResponse();
  }

  std::map<std::string, std::int64_t> kept(const v1::PruneResponse& response) const {
    std::map<std::string, std::int64_t> kept;
    for (const v1::CountBy& reason : response.kept()) {
      kept[reason.label()] = reason.num();
    }
    return kept;
  }

  std::string ids() const {
    return query("SELECT group_concat(experiment_id) FROM t_experiment ORDER BY experiment_id");
  }

  void upload(const std::string& digest, const std::string& bytes, std::int64_t now_ns = 1) {
    ASSERT_TRUE(store_->add_blob(digest, bytes, now_ns).ok());
  }

  // A source on data that starts one tensor and is compared with another.
  void upload_source(const std::string& digest,
                     const std::string& fill,
                     const std::string& reference) {
    v1::SourceSpec source;
    source.add_tensors()->mutable_fill()->set_digest(fill);
    source.add_tensors()->mutable_reference()->set_digest(reference);
    upload(digest, source.SerializeAsString());
  }

  std::string blobs() const {
    return query("SELECT group_concat(digest) FROM (SELECT digest FROM t_blob ORDER BY digest)");
  }

  std::unique_ptr<Store> store_;
  v1::Setting label_;
  std::string source_;
};

TEST_F(PruneTest, RemovesWholeExperimentsThatAreOldAndNothingElse) {
  ended("old", 99);
  ended("young", 100);
  ASSERT_TRUE(store_->submit(request("queued"), 1, 1).ok());
  const v1::PruneResponse response = prune({});
  EXPECT_EQ(response.num_experiments(), 1U);
  EXPECT_GT(response.num_bytes(), 0);
  EXPECT_EQ(ids(), "2,3");
  EXPECT_EQ(query("SELECT count(DISTINCT c.experiment_id) FROM t_samples s"
                  " JOIN t_measurement m USING (measurement_id)"
                  " JOIN t_configuration c USING (configuration_id)"),
            "1");
  EXPECT_EQ(query("SELECT count(*) FROM t_measurement"), "2");
}

TEST_F(PruneTest, TellsBeforeWhatItRemovesAfter) {
  ended("old", 99);
  ended("older", 9);
  v1::PruneRequest request;
  request.set_dry_run(true);
  const v1::PruneResponse told = prune(request);
  EXPECT_EQ(ids(), "1,2");
  request.set_dry_run(false);
  const v1::PruneResponse done = prune(request);
  EXPECT_EQ(told.SerializeAsString(), done.SerializeAsString());
  EXPECT_EQ(done.num_experiments(), 2U);
  EXPECT_EQ(query("SELECT count(*) FROM t_experiment"), "0");
}

TEST_F(PruneTest, KeepsWhatAcceptedBitsRestOn) {
  const std::int64_t id = ended("golden", 9);
  ended("other", 9);
  v1::Golden accepted = golden("w", "00112233445566778899aabbccddeeff");
  accepted.set_experiment_id(id);
  accepted.set_reason("first");
  ASSERT_TRUE(store_->accept_bits({accepted}, 50).ok());
  const v1::PruneResponse response = prune({});
  EXPECT_EQ(kept(response), (std::map<std::string, std::int64_t>{{"accepted bits", 1}}));
  EXPECT_EQ(ids(), std::to_string(id));
  EXPECT_EQ(store_->goldens({})->goldens_size(), 1);
}

TEST_F(PruneTest, KeepsWhatTuningsFloorsAndOpenRegressionsRestOn) {
  v1::Tuning tuning;
  fill(tuning);
  tuning.set_experiment_id(ended("tuned", 9));
  ASSERT_TRUE(store_->set_tuning(tuning).ok());
  v1::NoiseFloor floor;
  fill(floor);
  floor.set_experiment_id(ended("calibrated", 9));
  ASSERT_TRUE(store_->set_noise_floor(floor).ok());
  EXPECT_EQ(kept(prune({})),
            (std::map<std::string, std::int64_t>{{"noise floors", 1}, {"tunings", 1}}));
  EXPECT_EQ(ids(), "1,2");
}

TEST_F(PruneTest, KeepsWhatALabelNames) {
  label_.set_name("release");
  label_.set_value("7");
  ended("labelled", 9);
  label_.set_value("8");
  ended("other", 9);
  v1::PruneRequest request;
  v1::Setting& seven = *request.add_keep_labels();
  seven.set_name("release");
  seven.set_value("7");
  EXPECT_EQ(kept(prune(request)), (std::map<std::string, std::int64_t>{{"label release=7", 1}}));
  EXPECT_EQ(ids(), "1");
  ended("third", 9);
  request.mutable_keep_labels(0)->clear_value();
  EXPECT_EQ(prune(request).num_experiments(), 0U);
}

TEST_F(PruneTest, RemovesSamplesAlone) {
  const std::int64_t id = ended("old", 9);
  v1::PruneRequest request;
  request.set_only_samples(true);
  EXPECT_EQ(prune(request).num_experiments(), 1U);
  EXPECT_EQ(query("SELECT count(*) FROM t_samples"), "0");
  EXPECT_NE(query("SELECT count(*) FROM t_digest"), "0");
  v1::GetRequest get;
  get.set_experiment_id(id);
  EXPECT_GT(store_->get(get)->configurations(0).verdicts_size(), 0);
}

TEST_F(PruneTest, CountsNoSamplesTwice) {
  ended("old", 9);
  v1::PruneRequest request;
  request.set_only_samples(true);
  for (const bool dry_run : {true, false}) {
    request.set_dry_run(dry_run);
    EXPECT_EQ(prune(request).num_experiments(), 1U) << dry_run;
  }
  for (const bool dry_run : {true, false}) {
    request.set_dry_run(dry_run);
    EXPECT_EQ(prune(request).num_experiments(), 0U) << dry_run;
    EXPECT_EQ(prune(request).num_bytes(), 0) << dry_run;
  }
}

TEST_F(PruneTest, RemovesUploadsWithTheLastExperimentThatRefersToThem) {
  upload("data 1", "one");
  upload("data 2", "two");
  upload("data 3", "three");
  upload_source("source 1", "data 1", "data 2");
  upload_source("source 2", "data 2", "data 3");
  source_ = "source 1";
  ended("old", 9);
  ended("older", 8);
  source_ = "source 2";
  ended("young", 100);
  v1::PruneRequest request;
  request.set_only_samples(true);
  prune(request);
  EXPECT_EQ(blobs(), "data 1,data 2,data 3,source 1,source 2");
  request.set_only_samples(false);
  request.set_dry_run(true);
  const v1::PruneResponse told = prune(request);
  EXPECT_EQ(blobs(), "data 1,data 2,data 3,source 1,source 2");
  request.set_dry_run(false);
  const v1::PruneResponse done = prune(request);
  EXPECT_EQ(blobs(), "data 2,data 3,source 2");
  EXPECT_EQ(told.SerializeAsString(), done.SerializeAsString());
  EXPECT_EQ(prune(request).num_bytes(), 0);
}

TEST_F(PruneTest, LeavesUploadsThatAreStillNeededOrMayYetBe) {
  upload_source("source", "data", "data");
  upload("data", "one");
  upload("waits for its request", "x", 100);
  upload("was never asked for", "x", 99);
  source_ = "source";
  label_.set_name("release");
  ended("labelled", 9);
  v1::PruneRequest request;
  *request.add_keep_labels() = label_;
  EXPECT_EQ(prune(request).num_experiments(), 0U);
  EXPECT_EQ(blobs(), "data,source,waits for its request");
  // One that waits in the queue needs its source, too.
  v1::SubmitRequest queued = db::request("queued");
  queued.mutable_spec()->set_source_digest("source");
  ASSERT_TRUE(store_->submit(queued, 1, 200).ok());
  EXPECT_EQ(prune({}).num_experiments(), 1U);
  EXPECT_EQ(blobs(), "data,source,waits for its request");
}

}  // namespace
}  // namespace assay::db
