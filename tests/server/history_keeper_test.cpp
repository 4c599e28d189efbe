#include "server/history_keeper.h"

#include "tests/server/series_fixture.h"

namespace assay::server {
namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr std::int64_t kOld = 100'000;
constexpr std::int64_t kSlow = 110'000;

class HistoryKeeperTest : public SeriesFixture {
 protected:
  HistoryKeeperTest() {
    v1::Device& device = *devices_.add_devices();
    device.set_name("cpu");
    device.set_uuid("fake-uuid");
    device.set_available(true);
  }

  ~HistoryKeeperTest() override { keeper_.reset(); }

  void begin(bool confirms = true) {
    keeper_ = std::make_unique<HistoryKeeper>(HistoryKeeper::Services{
        .store = store_.get(),
        .now_ns = [this] { return now_ns_ + 1; },
        .devices = [this] { return devices_; },
        .submit = [this](const v1::SubmitRequest& request) -> absl::StatusOr<v1::Experiment> {
          if (!refusal_.ok()) {
            return refusal_;
          }
          reruns_.push_back(request);
          return store_->submit(request, 1, now_ns_);
        },
        .confirms = confirms});
    keeper_->start();
    settle();
  }

  void settle() {
    keeper_->wake();
    ASSERT_TRUE(keeper_->wait_until_settled(kPatience));
  }

  // A level, then a slower one.
  std::int64_t add_slow_down() {
    add_level({.median_ns = kOld}, 8);
    return add_level({.median_ns = kSlow, .code = "slow code"}, 6) - 5;
  }

  // Runs whose points have no time that a run can take.
  void add_unreadable(int num_runs, const MadeUp& made = {.arm = "twin:width=8"}) {
    const v1::Configuration configuration = configuration_of(made);
    v1::Device device;
    device.set_uuid(made.uuid);
    for (int i = 0; i < num_runs; ++i) {
      now_ns_ += 1'000'000'000;
      v1::SubmitRequest request;
      request.set_request_id("unreadable " + std::to_string(now_ns_));
      *request.mutable_spec() = spec_of(made);
      const std::int64_t id = store_->submit(request, 1, now_ns_)->experiment_id();
      std::vector<db::SeriesEntry> points = points_of(request.spec(), device, configuration);
      ASSERT_EQ(points.size(), 1U);
      points[0].point.set_median_ns(-5);
      ASSERT_TRUE(store_->start(id, device, now_ns_).ok());
      ASSERT_TRUE(store_->add_measured(id, configuration, points).ok());
      ASSERT_TRUE(store_->finish(id, v1::DONE, "", now_ns_).ok());
    }
  }

  // What the newest re-run measured.
  void end_rerun(const MadeUp& made) { end_rerun(made, newest()); }

  void end_rerun(const MadeUp& made, std::int64_t id) {
    v1::Device device;
    device.set_uuid(made.uuid);
    ASSERT_TRUE(store_->start(id, device, now_ns_).ok());
    ASSERT_TRUE(store_->add_measured(id, configuration_of(made), {}).ok());
    finish_rerun(v1::DONE, "", id);
  }

  void finish_rerun(v1::TaskState state, const std::string& message) {
    finish_rerun(state, message, newest());
  }

  void finish_rerun(v1::TaskState state, const std::string& message, std::int64_t id) {
    now_ns_ += 1'000'000'000;
    ASSERT_TRUE(store_->finish(id, state, message, now_ns_).ok());
    settle();
  }

  std::int64_t newest() const { return store_->get({})->experiment_id(); }

  std::vector<v1::Regression> regressions() const {
    const auto response = store_->list_regressions({});
    EXPECT_TRUE(response.ok()) << response.status();
    return {response->regressions().begin(), response->regressions().end()};
  }

  v1::Regression only() const {
    const std::vector<v1::Regression> all = regressions();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? v1::Regression() : all.front();
  }

  // Written while the keeper is settled only.
  v1::ListDevicesResponse devices_;
  absl::Status refusal_;
  std::vector<v1::SubmitRequest> reruns_;
  std::unique_ptr<HistoryKeeper> keeper_;
};

TEST_F(HistoryKeeperTest, FillsInWhatWasStoredWithoutPoints) {
  add_level({}, 3, false);
  begin();
  v1::Series wanted;
  wanted.set_operator_name("fake");
  auto found = store_->find_series(wanted, "");
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].num_points(), 3U);
  EXPECT_EQ(store_->pending_points(10)->size(), 0U);
  EXPECT_EQ(store_->stale_series(10)->size(), 0U);
  add({});
  EXPECT_EQ(store_->stale_series(10)->size(), 1U);
  settle();
  EXPECT_EQ(store_->stale_series(10)->size(), 0U);
  found = store_->find_series(wanted, "");
  EXPECT_EQ((*found)[0].num_points(), 4U);
}

TEST_F(HistoryKeeperTest, DetectsASlowDownInWhatWasFilledIn) {
  add_level({.median_ns = kOld, .commit = "aaaaaaa"}, 8, false);
  const std::int64_t last =
      add_level({.median_ns = kSlow, .code = "slow code", .commit = "bbbbbbb"}, 6, false);
  begin(false);
  const v1::Regression regression = only();
  EXPECT_EQ(regression.state(), v1::DETECTED);
  EXPECT_EQ(regression.experiment_id(), last - 5);
  EXPECT_EQ(regression.previous_experiment_id(), last - 6);
  EXPECT_EQ(regression.commit(), "bbbbbbb");
  EXPECT_EQ(regression.previous_commit(), "aaaaaaa");
  EXPECT_EQ(regression.before_ns(), kOld);
  EXPECT_EQ(regression.after_ns(), kSlow);
  EXPECT_EQ(regression.code_digest(), "slow code");
  EXPECT_NEAR(regression.ratio(), 1.1, 0.003);
  EXPECT_GT(regression.detected_ns(), 0);
  EXPECT_EQ(regression.series().arm(), "twin:width=4");
  EXPECT_TRUE(reruns_.empty());
}

TEST_F(HistoryKeeperTest, LooksAtTheNextSeriesWhereOneCannotBeRead) {
  add_unreadable(8);
  const std::int64_t slow = add_slow_down();
  begin();
  EXPECT_EQ(only().experiment_id(), slow);
  EXPECT_EQ(reruns_.size(), 1U);
  EXPECT_EQ(store_->stale_series(10)->size(), 0U);
}

TEST_F(HistoryKeeperTest, GivesUpARegressionWhoseSeriesCanNoLongerBeRead) {
  add_slow_down();
  begin();
  const std::int64_t rerun = newest();
  add_unreadable(1, {});
  end_rerun({.median_ns = kSlow, .code = "slow code"}, rerun);
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_TRUE(only().reason().starts_with("unconfirmable: series[14].median_ns: must be above 0"))
      << only().reason();
}

TEST_F(HistoryKeeperTest, FindsNothingWhereOnlyTheDeviceIsAnother) {
  add_level({.median_ns = kOld}, 8);
  add_level({.median_ns = kSlow, .uuid = "other-uuid"}, 8);
  begin();
  EXPECT_TRUE(regressions().empty());
}

TEST_F(HistoryKeeperTest, RunsARegressionAgainOnceAsItWasMeasured) {
  const std::int64_t slow = add_slow_down();
  begin();
  ASSERT_EQ(reruns_.size(), 1U);
  const v1::ExperimentSpec& spec = reruns_[0].spec();
  EXPECT_EQ(spec.kind(), v1::MEASURE);
  EXPECT_EQ(spec.operator_name(), "fake");
  EXPECT_EQ(spec.device(), "cpu");
  EXPECT_EQ(spec.axes_size(), 4);
  EXPECT_EQ(spec.axes(3).values(0), "4");
  EXPECT_EQ(spec.baseline().variant(), "twin");
  EXPECT_EQ(spec.baseline().parameters(0).value(), "4");
  EXPECT_EQ(spec.cache_mode(), v1::HOT);
  EXPECT_EQ(spec.launch_mode(), v1::STREAM);
  EXPECT_EQ(spec.timing_source(), v1::STEADY_CLOCK);
  EXPECT_EQ(spec.confirms_regression_id(), only().regression_id());
  EXPECT_EQ(spec.context().labels(0).name(), "origin");
  EXPECT_EQ(spec.context().labels(0).value(), "confirmation");
  EXPECT_EQ(only().confirmation_experiment_id(), newest());
  end_rerun({.median_ns = kSlow, .code = "slow code"});
  EXPECT_EQ(only().state(), v1::CONFIRMED) << only().reason();
  EXPECT_EQ(only().experiment_id(), slow);
  EXPECT_EQ(reruns_.size(), 1U);
  EXPECT_EQ(only().series().num_points(), 14U);
}

TEST_F(HistoryKeeperTest, RefutesARegressionThatDoesNotComeBack) {
  add_slow_down();
  begin();
  end_rerun({.median_ns = kOld, .code = "slow code"});
  EXPECT_EQ(only().state(), v1::REFUTED) << only().reason();
}

TEST_F(HistoryKeeperTest, ConfirmsNothingWithOtherCode) {
  add_slow_down();
  begin();
  end_rerun({.median_ns = kSlow, .code = "newer code"});
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_EQ(only().reason(), "unconfirmable: the code of that run is no longer at hand");
}

TEST_F(HistoryKeeperTest, TakesNoTimeOfAnotherDeviceForEvidence) {
  add_slow_down();
  begin();
  end_rerun({.median_ns = kSlow, .code = "slow code", .uuid = "swapped"});
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_EQ(only().reason(), "unconfirmable: the run again gave no time that can be compared");
}

TEST_F(HistoryKeeperTest, WaitsForADeviceThatWorks) {
  add_slow_down();
  devices_.mutable_devices(0)->set_running_experiment_id(99);
  begin();
  EXPECT_TRUE(reruns_.empty());
  devices_.mutable_devices(0)->clear_running_experiment_id();
  devices_.mutable_devices(0)->set_queue_length(1);
  settle();
  EXPECT_TRUE(reruns_.empty());
  devices_.mutable_devices(0)->clear_queue_length();
  settle();
  EXPECT_EQ(reruns_.size(), 1U);
}

TEST_F(HistoryKeeperTest, GivesUpADeviceThatIsGoneOnceAllOthersAreKnown) {
  add_slow_down();
  devices_.mutable_devices(0)->set_available(false);
  devices_.mutable_devices(0)->set_uuid("");
  begin();
  EXPECT_EQ(only().state(), v1::DETECTED);
  devices_.mutable_devices(0)->set_available(true);
  devices_.mutable_devices(0)->set_uuid("new-uuid");
  settle();
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_EQ(only().reason(), "unconfirmable: its device is not here");
}

TEST_F(HistoryKeeperTest, GivesUpWhatTheDaemonRefuses) {
  add_slow_down();
  refusal_ = absl::NotFoundError("spec.operator_name: no operator `fake`");
  begin();
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_EQ(only().reason(), "unconfirmable: spec.operator_name: no operator `fake`");
}

TEST_F(HistoryKeeperTest, TriesAgainOnlyWhatWasInterrupted) {
  add_slow_down();
  begin();
  const std::int64_t first = newest();
  finish_rerun(v1::INTERRUPTED, "the daemon was stopped");
  EXPECT_EQ(reruns_.size(), 2U);
  EXPECT_EQ(only().state(), v1::DETECTED);
  EXPECT_GT(only().confirmation_experiment_id(), first);
  finish_rerun(v1::FAILED, "the runner does not start");
  EXPECT_EQ(reruns_.size(), 2U);
  EXPECT_EQ(only().state(), v1::UNCONFIRMABLE);
  EXPECT_EQ(only().reason(), "unconfirmable: the run again failed: the runner does not start");
}

TEST_F(HistoryKeeperTest, GoesOnWhereItWasEnded) {
  add_slow_down();
  begin();
  const std::int64_t id = newest();
  keeper_.reset();
  reopen();
  begin();
  EXPECT_EQ(reruns_.size(), 1U);
  EXPECT_EQ(newest(), id);
  end_rerun({.median_ns = kSlow, .code = "slow code"});
  EXPECT_EQ(only().state(), v1::CONFIRMED);
}

TEST_F(HistoryKeeperTest, TakesAnAcknowledgementWithAReasonAndMarksAFix) {
  add_slow_down();
  begin(false);
  v1::AcknowledgeRequest request;
  request.set_regression_id(only().regression_id());
  EXPECT_EQ(keeper_->acknowledge(request).status(),
            absl::InvalidArgumentError("reason: must be 1 to 1,000 bytes"));
  request.set_reason("the wider tile");
  const auto acknowledged = keeper_->acknowledge(request);
  ASSERT_TRUE(acknowledged.ok()) << acknowledged.status();
  EXPECT_EQ(acknowledged->state(), v1::ACKNOWLEDGED);
  EXPECT_EQ(only().acknowledged_reason(), "the wider tile");
  const std::int64_t last = add_level({.median_ns = kOld, .code = "fast code"}, 6);
  settle();
  EXPECT_EQ(only().state(), v1::FIXED) << only().reason();
  EXPECT_EQ(only().fixed_experiment_id(), last - 5);
  EXPECT_EQ(only().acknowledged_reason(), "the wider tile");
  EXPECT_EQ(keeper_->acknowledge(request).status().code(), absl::StatusCode::kFailedPrecondition);
  request.set_regression_id(77);
  EXPECT_EQ(keeper_->acknowledge(request).status(),
            absl::NotFoundError("regression_id: no regression 77"));
}

}  // namespace
}  // namespace assay::server
