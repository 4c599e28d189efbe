#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

class RegressionsTest : public StoreTest {
 protected:
  RegressionsTest() : store_(open()) {}

  // A series with a point in a new experiment; gives the experiment.
  std::int64_t add_point(const std::string& uuid = "GPU-1") {
    const std::int64_t id = running(*store_, 1);
    SeriesEntry entry;
    entry.series.set_operator_name("qsa_decode");
    entry.series.set_device_uuid(uuid);
    entry.point.set_role("baseline");
    EXPECT_TRUE(store_->add_measured(id, full_configuration(1), {entry}).ok());
    return id;
  }

  static v1::Regression regression_at(std::int64_t experiment_id, const v1::Series& series) {
    v1::Regression regression;
    fill(regression);
    regression.clear_regression_id();
    *regression.mutable_series() = series;
    regression.set_experiment_id(experiment_id);
    regression.set_state(v1::DETECTED);
    return regression;
  }

  static v1::SeriesEvent event(v1::SeriesEventKind kind,
                               std::int64_t experiment_id,
                               const std::string& detail) {
    v1::SeriesEvent event;
    event.set_kind(kind);
    event.set_experiment_id(experiment_id);
    event.set_detail(detail);
    return event;
  }

  const std::unique_ptr<Store> store_;
};

TEST_F(RegressionsTest, KeepsOneWithEverythingThatIsKnownOfIt) {
  const std::int64_t id = add_point();
  SeriesUpdate update = {.series = *store_->series(1)};
  update.regressions.push_back(regression_at(id, update.series));
  ASSERT_TRUE(store_->update_series(update).ok());
  v1::Regression expected = update.regressions[0];
  expected.set_regression_id(1);
  auto found = store_->regression(1);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(MessageDifferencer::Equals(*found, expected)) << found->DebugString();
  expected.set_state(v1::CONFIRMED);
  ASSERT_TRUE(store_->set_regression(expected).ok());
  found = store_->regression(1);
  EXPECT_TRUE(MessageDifferencer::Equals(*found, expected)) << found->DebugString();
  EXPECT_EQ(store_->regression(2).status(), absl::NotFoundError("regression_id: no regression 2"));
}

TEST_F(RegressionsTest, KeepsASeriesStaleWhenAPointCameInMeanwhile) {
  add_point();
  const SeriesUpdate update = {.series = *store_->series(1)};
  add_point();
  ASSERT_TRUE(store_->update_series(update).ok());
  EXPECT_EQ(store_->stale_series(9)->size(), 1U);
  ASSERT_TRUE(store_->update_series({.series = *store_->series(1)}).ok());
  EXPECT_EQ(store_->stale_series(9)->size(), 0U);
}

TEST_F(RegressionsTest, ReplacesTheChangesOfWhatWasLookedAt) {
  const std::int64_t a = add_point();
  const std::int64_t b = add_point();
  SeriesUpdate update = {.series = *store_->series(1)};
  update.changes = {event(v1::TIME_CHANGED, a, "slower"),
                    event(v1::RESOURCES_CHANGED, b, "registers"),
                    event(v1::RESOURCES_CHANGED, b, "spills"),
                    event(v1::BITS_CHANGED, 99, "of an experiment that is gone")};
  ASSERT_TRUE(store_->update_series(update).ok());
  EXPECT_EQ(query("SELECT group_concat(experiment_id || kind || detail) FROM (SELECT * FROM"
                  " changes ORDER BY experiment_id)"),
            std::to_string(a) + "TIME_CHANGEDslower," + std::to_string(b) +
                "RESOURCES_CHANGEDregisters; spills");
  update.changes = {event(v1::TIME_CHANGED, b, "slower")};
  ASSERT_TRUE(store_->update_series(update).ok());
  EXPECT_EQ(query("SELECT group_concat(experiment_id || kind) FROM changes"),
            std::to_string(b) + "TIME_CHANGED");
}

TEST_F(RegressionsTest, ListsThemNewestFirstByWhatIsAsked) {
  const std::int64_t a = add_point("GPU-1");
  const std::int64_t b = add_point("GPU-2");
  for (std::int64_t series_id : {1, 2}) {
    SeriesUpdate update = {.series = *store_->series(series_id)};
    update.regressions = {regression_at(series_id == 1 ? a : b, update.series),
                          regression_at(series_id == 1 ? a : b, update.series)};
    update.regressions[1].set_state(v1::FIXED);
    ASSERT_TRUE(store_->update_series(update).ok());
  }
  const auto ids = [&](const v1::ListRegressionsRequest& request) {
    const auto response = store_->list_regressions(request);
    EXPECT_TRUE(response.ok()) << response.status();
    std::string text;
    for (const v1::Regression& regression : response->regressions()) {
      text += std::to_string(regression.regression_id()) + " ";
    }
    return text + response->next_page_token();
  };
  v1::ListRegressionsRequest request;
  EXPECT_EQ(ids(request), "4 3 2 1 ");
  request.set_page_size(3);
  EXPECT_EQ(ids(request), "4 3 2 r2");
  request.set_page_token("r2");
  EXPECT_EQ(ids(request), "1 ");
  request.Clear();
  request.set_only_open(true);
  EXPECT_EQ(ids(request), "3 1 ");
  request.Clear();
  request.set_state(v1::FIXED);
  request.set_device("GPU-2");
  EXPECT_EQ(ids(request), "4 ");
  request.Clear();
  request.set_series_id(1);
  EXPECT_EQ(ids(request), "2 1 ");
  request.set_operator_name("another");
  EXPECT_EQ(ids(request), "");
  request.set_page_token("4");
  EXPECT_EQ(store_->list_regressions(request).status(),
            absl::InvalidArgumentError("page_token: is not one that ListRegressions returned"));
}

}  // namespace
}  // namespace assay::db
