#include "proto/text.h"
#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

class TuningsTest : public StoreTest {
 protected:
  static v1::Tuning tuning(const std::string& workload) {
    v1::Tuning tuning;
    fill(tuning);
    tuning.clear_stale();
    tuning.set_workload(workload);
    return tuning;
  }

  // One finished configuration of `arm` on `workload`, whose candidate ran `code`.
  static void measure(Store& store,
                      const v1::Tuning& of,
                      const std::string& request_id,
                      const std::string& width,
                      const std::string& code) {
    v1::SubmitRequest request;
    request.set_request_id(request_id);
    request.mutable_spec()->set_kind(v1::COMPARE);
    request.mutable_spec()->set_operator_name(of.operator_name());
    const auto experiment = store.submit(request, 1, 1);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    v1::Device device;
    device.set_uuid(of.device_uuid());
    ASSERT_TRUE(store.start(experiment->experiment_id(), device, 2).ok());
    v1::Configuration configuration;
    configuration.set_configuration(1);
    configuration.set_outcome(v1::FINISHED);
    v1::Setting& axis = *configuration.mutable_workload()->add_axes();
    axis.set_name("width");
    axis.set_value(width);
    configuration.mutable_workload()->set_seed(7);
    *configuration.mutable_candidate()->mutable_arm() = of.arm();
    configuration.mutable_candidate()->set_code_digest(code);
    const absl::Status stored = store.add_configuration(experiment->experiment_id(), configuration);
    ASSERT_TRUE(stored.ok()) << stored;
  }
};

TEST_F(TuningsTest, KeepsEveryFieldAndOneEntryAKey) {
  const auto store = open();
  v1::Tuning first = tuning("width=1");
  ASSERT_TRUE(store->set_tuning(first).ok());
  ASSERT_TRUE(store->set_tuning(tuning("width=2")).ok());
  first.set_median_ns(first.median_ns() + 1);
  ASSERT_TRUE(store->set_tuning(first).ok());
  v1::ListTuningsRequest request;
  request.set_operator_name(first.operator_name());
  const auto found = store->tunings(request);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_TRUE(MessageDifferencer::Equals(found->at(0), first)) << found->at(0).DebugString();
  request.set_device_model("another");
  EXPECT_TRUE(store->tunings(request)->empty());
}

TEST_F(TuningsTest, FindsTheNewestCodeOfAnArmOnItsWorkload) {
  const auto store = open();
  const v1::Tuning one = tuning("width=1");
  EXPECT_EQ(*store->newest_code_digest(one), "");
  measure(*store, one, "a", "1", "old");
  measure(*store, one, "b", "1", "new");
  // The same arm may run another kernel on another workload, even on one that begins alike.
  measure(*store, one, "c", "16", "other");
  EXPECT_EQ(*store->newest_code_digest(one), "new");
  EXPECT_EQ(*store->newest_code_digest(tuning("width=16")), "other");
  v1::Tuning elsewhere = one;
  elsewhere.set_device_uuid("another");
  EXPECT_EQ(*store->newest_code_digest(elsewhere), "");
}

TEST_F(TuningsTest, ResumesSweepsOnly) {
  const auto store = open();
  EXPECT_EQ(store->resume(1).code(), absl::StatusCode::kNotFound);
  const std::int64_t comparison = running(*store, 1);
  EXPECT_EQ(store->resume(comparison).code(), absl::StatusCode::kFailedPrecondition);
  v1::SubmitRequest request;
  request.set_request_id("sweep");
  request.mutable_spec()->set_kind(v1::SWEEP);
  const auto sweep = store->submit(request, 5, 1);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  ASSERT_TRUE(store->start(sweep->experiment_id(), v1::Device(), 2).ok());
  EXPECT_EQ(store->resume(sweep->experiment_id()).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store->interrupt_running(3).ok());
  ASSERT_TRUE(store->resume(sweep->experiment_id()).ok());
  EXPECT_EQ(store->queued()->size(), 1U);
  ASSERT_TRUE(store->start(sweep->experiment_id(), v1::Device(), 4).ok());
  // It ends before all of its space was tried.
  ASSERT_TRUE(store->finish(sweep->experiment_id(), v1::DONE, "", 5).ok());
  v1::GetRequest get;
  get.set_experiment_id(sweep->experiment_id());
  EXPECT_EQ(store->get(get)->num_configurations(), 0U);
}

TEST_F(TuningsTest, KeepsBytesByTheirDigest) {
  const auto store = open();
  const std::string bytes("a\0b\xff", 4);
  ASSERT_TRUE(store->add_blob("digest", bytes, 1).ok());
  ASSERT_TRUE(store->add_blob("digest", "other", 2).ok());
  EXPECT_EQ(*store->blob("digest"), bytes);
  EXPECT_TRUE(*store->has_blob("digest"));
  EXPECT_FALSE(*store->has_blob("another"));
  EXPECT_EQ(store->blob("another").status(),
            absl::NotFoundError("digest: nothing is uploaded as `another`"));
}

}  // namespace
}  // namespace assay::db
