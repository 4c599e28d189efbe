#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

#include <limits>

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

class CeilingsTest : public StoreTest {
 protected:
  // A finished BENCH whose only configuration has a ceiling of each value, named "c1", "c2", ...
  static v1::Configuration bench(std::int64_t experiment_id, std::initializer_list<double> values) {
    v1::Configuration configuration;
    configuration.set_configuration(1);
    configuration.set_outcome(v1::FINISHED);
    for (const double value : values) {
      v1::Ceiling& ceiling = *configuration.add_ceilings();
      fill(ceiling);
      ceiling.set_name("c" + std::to_string(configuration.ceilings_size()));
      ceiling.set_device_uuid("uuid");
      ceiling.set_experiment_id(experiment_id);
      ceiling.set_value(value);
    }
    return configuration;
  }

  // Submits and starts a BENCH; its id.
  static std::int64_t start(Store& store, const std::string& request_id) {
    v1::SubmitRequest request;
    request.set_request_id(request_id);
    request.mutable_spec()->set_kind(v1::BENCH);
    request.mutable_spec()->set_device("gpu");
    const auto experiment = store.submit(request, 1, 1);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_TRUE(store.start(experiment->experiment_id(), v1::Device(), 2).ok());
    return experiment->experiment_id();
  }
};

TEST_F(CeilingsTest, KeepsThoseOfEveryBenchAndShowsTheNewest) {
  const auto store = open();
  EXPECT_TRUE(store->ceilings("uuid")->empty());
  const std::int64_t first = start(*store, "first");
  ASSERT_TRUE(store->add_configuration(first, bench(first, {4.5e12, -0.001})).ok());
  const std::int64_t second = start(*store, "second");
  const v1::Configuration newest = bench(second, {4.6e12, 0.002, 770});
  ASSERT_TRUE(store->add_configuration(second, newest).ok());

  const auto found = store->ceilings("uuid");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(
        MessageDifferencer::Equals(found->at(static_cast<std::size_t>(i)), newest.ceilings(i)));
  }
  EXPECT_TRUE(store->ceilings("another")->empty());
  v1::GetRequest get;
  get.set_experiment_id(first);
  const auto experiment = store->get(get);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  ASSERT_EQ(experiment->configurations(0).ceilings_size(), 2);
  EXPECT_EQ(experiment->configurations(0).ceilings(0).value(), 4.5e12);
  EXPECT_EQ(query("SELECT count(*) FROM ceilings"), "5");
}

TEST_F(CeilingsTest, RefusesAConfigurationWhoseCeilingIsNoNumber) {
  const auto store = open();
  const std::int64_t id = start(*store, "first");
  const absl::Status status =
      store->add_configuration(id, bench(id, {1, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("ceilings[1]"), std::string::npos) << status;
  EXPECT_TRUE(store->ceilings("uuid")->empty());
}

}  // namespace
}  // namespace assay::db
