#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

// What distinguishes one experiment in a series.
struct Origin {
  std::string commit = {};
  std::int64_t committed_ns = 0;
  std::int64_t started_ns = 0;
  std::string branch = "main";
};

class SeriesTest : public StoreTest {
 protected:
  SeriesTest() : store_(open()) {}

  static SeriesEntry entry(const std::string& arm, std::int64_t median_ns) {
    SeriesEntry entry;
    entry.series.set_operator_name("qsa_decode");
    entry.series.set_workload("n_q=1,seed=0");
    entry.series.set_stage("total");
    entry.series.set_variant(arm.substr(0, arm.find(':')));
    entry.series.set_arm(arm);
    entry.series.set_device_uuid("GPU-1");
    entry.series.set_device_model("some model");
    entry.series.set_cache_mode(v1::HOT);
    entry.series.set_launch_mode(v1::STREAM);
    entry.series.set_timing_source(v1::CUPTI_ACTIVITY);
    entry.point.set_configuration(1);
    entry.point.set_role("baseline");
    entry.point.set_median_ns(median_ns);
    entry.point.set_lower_quartile_ns(median_ns - 1);
    entry.point.set_upper_quartile_ns(median_ns + 1);
    entry.point.set_num_samples(240);
    entry.point.set_code_digest("code");
    entry.point.set_bits_digest("bits");
    entry.point.set_family("baseline");
    entry.point.set_num_registers(40);
    entry.point.set_local_bytes(8);
    return entry;
  }

  // A running experiment.
  std::int64_t begin(const Origin& origin, std::uint32_t num_configurations = 1) {
    static int counter = 0;
    v1::SubmitRequest asked = request("series " + std::to_string(++counter));
    v1::Context& context = *asked.mutable_spec()->mutable_context();
    context.set_commit(origin.commit);
    context.set_committed_ns(origin.committed_ns);
    context.set_branch(origin.branch);
    context.set_dirty(true);
    const auto experiment = store_->submit(asked, num_configurations, 1);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    v1::Device device;
    device.set_name("gpu");
    device.set_uuid("GPU-1");
    device.set_model("some model");
    device.set_driver_version("driver 1");
    device.set_toolkit_version("toolkit 2");
    device.set_code_version("code 3");
    EXPECT_TRUE(store_->start(experiment->experiment_id(), device, origin.started_ns).ok());
    return experiment->experiment_id();
  }

  std::int64_t add(const Origin& origin, const std::vector<SeriesEntry>& entries) {
    const std::int64_t id = begin(origin);
    const absl::Status added = store_->add_measured(id, full_configuration(1), entries);
    EXPECT_TRUE(added.ok()) << added;
    return id;
  }

  std::vector<std::int64_t> ids(const PointsRequest& request) const {
    const auto points = store_->points(request);
    EXPECT_TRUE(points.ok()) << points.status();
    std::vector<std::int64_t> ids;
    for (const v1::SeriesPoint& point : *points) {
      ids.push_back(point.experiment_id());
    }
    return ids;
  }

  const std::unique_ptr<Store> store_;
};

using Ids = std::vector<std::int64_t>;

TEST_F(SeriesTest, KeepsAPointWithWhatItsExperimentAndDeviceSay) {
  const std::int64_t id = add({.commit = "abc", .committed_ns = 5, .started_ns = 7},
                              {entry("two_cell:threads=2", 100)});
  EXPECT_EQ(store_->find_series(entry("one_cell", 0).series, "")->size(), 0U);
  v1::Series wanted;
  wanted.set_operator_name("qsa_decode");
  const auto found = store_->find_series(wanted, "");
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].num_points(), 1U);
  EXPECT_EQ((*found)[0].newest_experiment_id(), id);
  const auto points = store_->points({.series = (*found)[0], .max_points = 10});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 1U);
  v1::SeriesPoint expected = entry("two_cell", 100).point;
  expected.set_experiment_id(id);
  expected.set_measured_ns(7);
  expected.set_arm("two_cell:threads=2");
  expected.set_commit("abc");
  expected.set_committed_ns(5);
  expected.set_dirty(true);
  expected.set_branch("main");
  expected.set_driver_version("driver 1");
  expected.set_toolkit_version("toolkit 2");
  expected.set_code_version("code 3");
  EXPECT_TRUE(MessageDifferencer::Equals((*points)[0], expected)) << (*points)[0].DebugString();
}

TEST_F(SeriesTest, KeepsNothingOfAConfigurationWhosePointCannotBeKept) {
  const std::int64_t id = begin({});
  SeriesEntry bad = entry("one_cell", 100);
  bad.point.set_role("spectator");
  EXPECT_FALSE(store_->add_measured(id, full_configuration(1), {bad}).ok());
  EXPECT_EQ(query("SELECT count(*) FROM t_configuration"), "0");
  EXPECT_EQ(query("SELECT count(*) FROM t_series"), "0");
  EXPECT_EQ(query("SELECT num_finished FROM t_experiment"), "0");
}

TEST_F(SeriesTest, KeepsTheFirstOfSeveralPointsOfAnExperiment) {
  const std::int64_t id = begin({}, 2);
  ASSERT_TRUE(store_->add_measured(id, full_configuration(1), {entry("one_cell", 100)}).ok());
  ASSERT_TRUE(store_->add_measured(id, full_configuration(2), {entry("one_cell", 200)}).ok());
  const auto points = store_->points({.series = *store_->series(1), .max_points = 10});
  ASSERT_EQ(points->size(), 1U);
  EXPECT_EQ((*points)[0].median_ns(), 100);
}

TEST_F(SeriesTest, NeverMixesDevicesModesOrSources) {
  std::vector<SeriesEntry> entries(5, entry("one_cell", 100));
  entries[1].series.set_device_uuid("GPU-2");
  entries[2].series.set_cache_mode(v1::COLD);
  entries[3].series.set_launch_mode(v1::GRAPH);
  entries[4].series.set_timing_source(v1::CUDA_EVENTS);
  for (int i = 1; i < 5; ++i) {
    entries[static_cast<std::size_t>(i)].point.set_median_ns(100 - 10 * i);
  }
  add({}, entries);
  EXPECT_EQ(query("SELECT count(*) FROM t_series"), "5");
  v1::Series wanted;
  wanted.set_operator_name("qsa_decode");
  EXPECT_EQ(store_->find_series(wanted, "GPU-2")->size(), 1U);
  EXPECT_EQ(store_->find_series(wanted, "gpu")->size(), 4U);  // a name is that of its own device
  EXPECT_EQ(store_->find_series(wanted, "another")->size(), 0U);
  v1::Series best = entries[0].series;
  best.set_variant("best");
  best.clear_arm();
  const auto points = store_->points({.series = best, .max_points = 10});
  ASSERT_EQ(points->size(), 1U);
  EXPECT_EQ((*points)[0].median_ns(), 100);
}

TEST_F(SeriesTest, OrdersByTimeOrByCommitAndCutsTheOldest) {
  const std::vector<SeriesEntry> entries = {entry("one_cell", 100)};
  const std::int64_t a = add({.commit = "a", .committed_ns = 30, .started_ns = 1}, entries);
  const std::int64_t b = add({.commit = "b", .committed_ns = 10, .started_ns = 2}, entries);
  const std::int64_t c =
      add({.commit = "c", .committed_ns = 20, .started_ns = 3, .branch = "side"}, entries);
  const std::int64_t d = add({.started_ns = 4}, entries);
  const std::int64_t e = add({.commit = "e", .started_ns = 5}, entries);
  PointsRequest request = {.series = *store_->series(1), .max_points = 10};
  EXPECT_EQ(ids(request), (Ids{a, b, c, d, e}));
  request.max_points = 2;
  EXPECT_EQ(ids(request), (Ids{d, e}));
  request.order = v1::BY_COMMIT;
  EXPECT_EQ(ids(request), (Ids{c, a}));
  request.branch = "main";
  EXPECT_EQ(ids(request), (Ids{b, a}));
}

TEST_F(SeriesTest, TakesTheFastestArmThatWasNotRejectedAsTheBest) {
  SeriesEntry rejected = entry("three_cell", 50);
  rejected.point.set_rejected(true);
  add({.started_ns = 1}, {entry("one_cell", 100), entry("two_cell", 90), rejected});
  add({.started_ns = 2}, {entry("one_cell", 80), entry("two_cell", 90)});
  add({.started_ns = 3}, {rejected});
  v1::Series best = rejected.series;
  const auto points = store_->points({.series = best, .max_points = 10});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ((*points)[0].arm(), "two_cell");
  EXPECT_EQ((*points)[0].median_ns(), 90);
  EXPECT_EQ((*points)[1].arm(), "one_cell");
}

TEST_F(SeriesTest, TellsWhatHasNoPointsAndTakesThemOnce) {
  const std::int64_t id = begin({}, 3);
  ASSERT_TRUE(store_->add_configuration(id, full_configuration(1)).ok());
  ASSERT_TRUE(store_->add_measured(id, full_configuration(2), {}).ok());
  ASSERT_TRUE(store_->add_configuration(id, full_configuration(3)).ok());
  const auto pending = store_->pending_points(10);
  ASSERT_EQ(pending->size(), 2U);
  EXPECT_EQ((*pending)[0].configuration, 1U);
  EXPECT_EQ((*pending)[1].configuration, 3U);
  EXPECT_EQ(store_->pending_points(1)->size(), 1U);
  ASSERT_TRUE(store_->add_points((*pending)[0], {entry("one_cell", 100)}).ok());
  ASSERT_TRUE(store_->add_points((*pending)[0], {entry("two_cell", 100)}).ok());
  ASSERT_TRUE(store_->add_points({.experiment_id = 99, .configuration = 1}, {}).ok());
  EXPECT_EQ(store_->pending_points(10)->size(), 1U);
  EXPECT_EQ(query("SELECT group_concat(arm) FROM t_series"), "one_cell");
}

TEST_F(SeriesTest, ListsSeriesInPagesTheNewestFirst) {
  add({}, {entry("one_cell", 100), entry("two_cell", 100)});
  add({}, {entry("two_cell", 100)});
  SeriesEntry merge = entry("two_cell", 40);
  merge.series.set_stage("merge");
  add({}, {merge});
  v1::ListSeriesRequest request;
  request.set_page_size(1);
  auto page = store_->list_series(request);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->series_size(), 1);
  EXPECT_EQ(page->series(0).arm(), "two_cell");
  EXPECT_EQ(page->series(0).num_points(), 2U);
  request.set_page_token(page->next_page_token());
  page = store_->list_series(request);
  ASSERT_EQ(page->series_size(), 1);
  EXPECT_EQ(page->series(0).arm(), "one_cell");
  EXPECT_EQ(page->next_page_token(), "");
  request.Clear();
  request.set_stage("all");
  EXPECT_EQ(store_->list_series(request)->series_size(), 3);
  request.set_variant("one_cell");
  EXPECT_EQ(store_->list_series(request)->series_size(), 1);
  request.set_page_token("x1");
  EXPECT_EQ(store_->list_series(request).status(),
            absl::InvalidArgumentError("page_token: is not one that ListSeries returned"));
  request.set_page_size(1'001);
  EXPECT_FALSE(store_->list_series(request).ok());
}

TEST_F(SeriesTest, NamesASeriesThatIsNotThere) {
  EXPECT_EQ(store_->series(7).status(), absl::NotFoundError("series_id: no series 7"));
}

TEST_F(SeriesTest, FindsTheEpochsOfAWorkloadForEachFamily) {
  v1::Golden own = golden("w", "d1");
  own.set_family("own");
  v1::Golden second = golden("w", "d1");
  second.set_tensor("second");
  ASSERT_TRUE(store_->accept_bits({golden("w", "d1"), second, own}, 5).ok());
  ASSERT_TRUE(store_->accept_bits({golden("other", "d1")}, 6).ok());
  ASSERT_TRUE(store_->accept_bits({golden("w", "d2")}, 7).ok());
  const auto epochs = store_->epochs_of("qsa_decode", "w");
  ASSERT_EQ(epochs->size(), 3U);
  EXPECT_EQ((*epochs)[0].family(), "baseline");
  EXPECT_EQ((*epochs)[1].family(), "own");
  EXPECT_EQ((*epochs)[1].epoch(), 1);
  EXPECT_EQ((*epochs)[2].epoch(), 3);
  EXPECT_EQ((*epochs)[2].family(), "baseline");
  EXPECT_EQ((*epochs)[2].accepted_ns(), 7);
  EXPECT_EQ((*epochs)[2].experiment_id(), 7);
  EXPECT_EQ((*epochs)[2].reason(), "first bits");
}

}  // namespace
}  // namespace assay::db
