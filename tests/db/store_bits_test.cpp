#include "tests/db/store_fixture.h"

namespace assay::db {
namespace {

class BitsTest : public StoreTest {
 protected:
  BitsTest() : store_(open()) {}

  // An experiment whose only arm gave `digest`.
  std::int64_t add(const std::string& digest,
                   std::int64_t started_ns,
                   const std::string& variant = "one_cell",
                   const std::string& uuid = "GPU-1") {
    static int counter = 0;
    v1::SubmitRequest asked = request("bits " + std::to_string(++counter));
    asked.mutable_spec()->mutable_context()->set_commit("c" + std::to_string(started_ns));
    const auto experiment = store_->submit(asked, 1, 1);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    v1::Device device;
    device.set_name("name of " + uuid);
    device.set_uuid(uuid);
    device.set_model("some model");
    const std::int64_t id = experiment->experiment_id();
    EXPECT_TRUE(store_->start(id, device, started_ns).ok());
    v1::Configuration configuration;
    configuration.set_configuration(1);
    configuration.mutable_workload()->set_seed(5);
    v1::Measurement& measurement = *configuration.mutable_baseline();
    measurement.mutable_arm()->set_variant(variant);
    measurement.set_family("baseline");
    v1::TensorDigest& output = *measurement.add_outputs();
    output.set_tensor("out");
    output.set_digest(digest);
    EXPECT_TRUE(store_->add_measured(id, configuration, {}).ok());
    return id;
  }

  std::vector<v1::BitsEntry> entries(const v1::BitHistoryRequest& request) const {
    const auto response = store_->bit_history(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return {response->entries().begin(), response->entries().end()};
  }

  const std::unique_ptr<Store> store_;
};

TEST_F(BitsTest, SaysWhereAndWhenBitsWereFirstAndLastSeen) {
  const std::int64_t second = add("abcd01", 20);
  const std::int64_t first = add("abcd01", 10, "two_cell");
  const std::int64_t last = add("abcd01", 30);
  const auto found = entries({});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].operator_name(), "qsa_decode");
  EXPECT_EQ(found[0].workload(), "seed=5");
  EXPECT_EQ(found[0].tensor(), "out");
  EXPECT_EQ(found[0].family(), "baseline");
  EXPECT_EQ(found[0].device_uuid(), "GPU-1");
  EXPECT_EQ(found[0].device_model(), "some model");
  EXPECT_EQ(found[0].digest(), "abcd01");
  EXPECT_EQ(found[0].first_experiment_id(), first);
  EXPECT_EQ(found[0].first_ns(), 10);
  EXPECT_EQ(found[0].first_commit(), "c10");
  EXPECT_EQ(found[0].last_experiment_id(), last);
  EXPECT_EQ(found[0].last_ns(), 30);
  EXPECT_EQ(found[0].num_measurements(), 3U);
  ASSERT_EQ(found[0].variants_size(), 2);
  EXPECT_EQ(found[0].variants(0), "one_cell");
  EXPECT_EQ(found[0].variants(1), "two_cell");
  EXPECT_EQ(found[0].epoch(), 0);
  EXPECT_NE(second, first);
}

TEST_F(BitsTest, KeepsDevicesApartAndFindsByWhatIsAsked) {
  add("abcd01", 10);
  add("abcd01", 20, "one_cell", "GPU-2");
  add("ffff02", 30);
  v1::BitHistoryRequest request;
  ASSERT_EQ(entries(request).size(), 3U);
  EXPECT_EQ(entries(request)[0].digest(), "ffff02");
  request.set_digest("abcd");
  ASSERT_EQ(entries(request).size(), 2U);
  EXPECT_EQ(entries(request)[0].device_uuid(), "GPU-2");
  request.set_device("name of GPU-1");
  ASSERT_EQ(entries(request).size(), 1U);
  request.set_tensor("other");
  EXPECT_EQ(entries(request).size(), 0U);
  request.Clear();
  request.set_workload("seed");
  EXPECT_EQ(entries(request).size(), 3U);
  request.set_workload("seed=6");
  EXPECT_EQ(entries(request).size(), 0U);
  request.Clear();
  request.set_operator_name("another");
  EXPECT_EQ(entries(request).size(), 0U);
  request.Clear();
  request.set_page_size(2);
  const auto page = store_->bit_history(request);
  ASSERT_EQ(page->entries_size(), 2);
  request.set_page_token(page->next_page_token());
  ASSERT_EQ(entries(request).size(), 1U);
  EXPECT_EQ(entries(request)[0].first_ns(), 10);
}

TEST_F(BitsTest, MarksWhatWasAcceptedAndWhatReplacedIt) {
  add("abcd01", 10);
  add("ffff02", 20);
  v1::Golden accepted = golden("seed=5", "abcd01");
  ASSERT_TRUE(store_->accept_bits({accepted}, 15).ok());
  EXPECT_TRUE(entries({})[1].is_golden());
  accepted.set_digest("ffff02");
  accepted.set_reason("shorter sum");
  ASSERT_TRUE(store_->accept_bits({accepted}, 25).ok());
  const auto found = entries({});
  EXPECT_TRUE(found[0].is_golden());
  EXPECT_EQ(found[0].epoch(), 2);
  EXPECT_EQ(found[0].reason(), "shorter sum");
  EXPECT_FALSE(found[1].is_golden());
  EXPECT_EQ(found[1].epoch(), 1);
}

TEST_F(BitsTest, KeepsTheDigestsOfACheck) {
  const std::int64_t id = running(*store_, 1);
  v1::Configuration configuration;
  configuration.set_configuration(1);
  v1::CaseDigest& digest = *configuration.mutable_check()->add_digests();
  digest.set_workload("parity/int8/17");
  digest.set_family("baseline");
  digest.set_digest("abcd01");
  ASSERT_TRUE(store_->add_measured(id, configuration, {}).ok());
  const auto found = entries({});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tensor(), "all");
  EXPECT_EQ(found[0].workload(), "parity/int8/17");
}

TEST_F(BitsTest, RefusesWhatIsNoDigestAndNoPage) {
  v1::BitHistoryRequest request;
  request.set_digest("abc");
  EXPECT_EQ(store_->bit_history(request).status(),
            absl::InvalidArgumentError(
                "digest: must be its first digits, at least 4, as 0 to 9 and a to f"));
  request.set_digest("abc%");
  EXPECT_FALSE(store_->bit_history(request).ok());
  request.Clear();
  request.set_page_token("b1");
  EXPECT_EQ(store_->bit_history(request).status(),
            absl::InvalidArgumentError("page_token: is not one that BitHistory returned"));
  request.Clear();
  request.set_page_size(1'001);
  EXPECT_FALSE(store_->bit_history(request).ok());
}

}  // namespace
}  // namespace assay::db
