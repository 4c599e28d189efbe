#include "db/connection.h"
#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

class NoiseTest : public StoreTest {};

v1::NoiseFloor floor_of(double share) {
  v1::NoiseFloor floor;
  fill(floor);
  floor.set_noise_floor(share);
  return floor;
}

TEST_F(NoiseTest, KeepsTheNewestFloorWithEverythingThatIsKnownOfIt) {
  const auto store = open();
  EXPECT_EQ(*store->noise_floor(floor_of(0)), std::nullopt);
  ASSERT_TRUE(store->set_noise_floor(floor_of(0.02)).ok());
  ASSERT_TRUE(store->set_noise_floor(floor_of(0.004)).ok());
  const auto found = store->noise_floor(floor_of(0));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_TRUE(MessageDifferencer::Equals(**found, floor_of(0.004)));
  EXPECT_EQ(query("SELECT count(*) FROM noise_floors"), "1");
}

TEST_F(NoiseTest, FindsTheFloorOfItsOwnKeyOnly) {
  const auto store = open();
  ASSERT_TRUE(store->set_noise_floor(floor_of(0.02)).ok());
  v1::NoiseFloor other = floor_of(0);
  other.set_device_uuid("another");
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
  other = floor_of(0);
  other.set_operator_name("another");
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
  other = floor_of(0);
  other.set_workload("another");
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
  other = floor_of(0);
  other.set_cache_mode(v1::CACHE_MODE_UNSPECIFIED);
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
  other = floor_of(0);
  other.set_launch_mode(v1::LAUNCH_MODE_UNSPECIFIED);
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
  other = floor_of(0);
  other.set_timing_source(v1::TIMING_SOURCE_UNSPECIFIED);
  EXPECT_EQ(*store->noise_floor(other), std::nullopt);
}

TEST_F(NoiseTest, RefusesAFloorThatIsNoNumber) {
  const auto store = open();
  EXPECT_FALSE(store->set_noise_floor(floor_of(-0.1)).ok());
  EXPECT_FALSE(store->set_noise_floor(floor_of(std::numeric_limits<double>::infinity())).ok());
  EXPECT_FALSE(store->set_noise_floor(floor_of(std::numeric_limits<double>::quiet_NaN())).ok());
  EXPECT_EQ(*store->noise_floor(floor_of(0)), std::nullopt);
}

TEST_F(NoiseTest, AddsAVerdictBehindTheOthersAndOverwritesNone) {
  const auto store = open();
  const std::int64_t id = running(*store, 1);
  const v1::Configuration configuration = full_configuration(1);
  ASSERT_TRUE(store->add_configuration(id, configuration).ok());
  v1::Verdict verdict;
  fill(verdict);
  verdict.set_reason("judged again");
  ASSERT_TRUE(store->add_verdict(id, 1, verdict).ok());
  v1::GetRequest get;
  get.set_experiment_id(id);
  const auto experiment = store->get(get);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const auto& verdicts = experiment->configurations(0).verdicts();
  ASSERT_EQ(verdicts.size(), configuration.verdicts_size() + 1);
  EXPECT_TRUE(MessageDifferencer::Equals(verdicts[verdicts.size() - 1], verdict));
  EXPECT_TRUE(MessageDifferencer::Equals(verdicts[0], configuration.verdicts(0)));
  EXPECT_EQ(store->add_verdict(id, 2, verdict),
            absl::NotFoundError("configuration: experiment 1 has no configuration 2"));
}

}  // namespace
}  // namespace assay::db
