#include "server/trends.h"

#include "tests/server/series_fixture.h"

namespace assay::server {
namespace {

class Trends : public SeriesFixture {
 protected:
  static v1::TrendRequest request(const std::string& variant = "") {
    v1::TrendRequest request;
    request.set_operator_name("fake");
    request.set_variant(variant);
    return request;
  }

  absl::StatusOr<v1::TrendResponse> look(const v1::TrendRequest& request) const {
    return trend(*store_, request, nullptr);
  }

  std::string error(const v1::TrendRequest& request) const {
    const auto found = look(request);
    return found.ok() ? "no error" : std::string(found.status().message());
  }

  static std::vector<v1::SeriesEventKind> kinds(const v1::Trend& trend) {
    std::vector<v1::SeriesEventKind> kinds;
    for (const v1::SeriesEvent& event : trend.events()) {
      kinds.push_back(event.kind());
    }
    return kinds;
  }
};

using Kinds = std::vector<v1::SeriesEventKind>;

TEST_F(Trends, SayWhatThereIsWhereNothingIsFound) {
  EXPECT_EQ(error(request()), "operator_name: there is no series yet; measure something first");
  EXPECT_EQ(error({}), "operator_name: must not be empty without series_id");
  add({});
  v1::TrendRequest asked = request();
  asked.set_operator_name("other");
  EXPECT_EQ(error(asked), "operator_name: no series of `other`; there is `fake` (1 point)");
  EXPECT_EQ(error(request("fast")), "variant: no series of `fast`; there is `twin` (1 point)");
  asked = request("twin");
  asked.set_arm("twin:width=8");
  EXPECT_EQ(error(asked), "arm: no series of `twin:width=8`; there is `twin:width=4` (1 point)");
  asked = request();
  asked.set_stage("merge");
  EXPECT_EQ(error(asked), "stage: no series of `merge`; there is `total` (1 point)");
  asked = request();
  asked.set_device("gpu");
  EXPECT_EQ(error(asked), "device: no series of `gpu`; there is `fake-uuid` (1 point)");
  asked = request();
  asked.set_cache_mode(v1::COLD);
  EXPECT_EQ(error(asked), "cache_mode: no series of `COLD`; there is `HOT` (1 point)");
}

TEST_F(Trends, RefuseWhatIsNoTrend) {
  v1::TrendRequest asked = request();
  asked.set_max_points(1'001);
  EXPECT_EQ(error(asked), "max_points: must be in [0, 1,000]");
  asked = request();
  asked.set_series_id(1);
  EXPECT_EQ(error(asked),
            "series_id: names a series alone; leave out operator_name, variant and arm");
  asked = request("best");
  asked.set_arm("twin:width=4");
  add({});
  EXPECT_EQ(error(asked), "arm: leave it out, the variant `best` takes any");
}

TEST_F(Trends, ListTheArmsWithTheirPointsWhereNoneStandsOut) {
  add({});
  add({.arm = "twin:width=8"});
  EXPECT_EQ(error(request("twin")),
            "arm: several have as many points; choose one of `twin:width=4` (1 point), "
            "`twin:width=8` (1 point)");
  add({.arm = "twin:width=8"});
  const auto found = look(request("twin"));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->trends_size(), 1);
  EXPECT_EQ(found->trends(0).series().arm(), "twin:width=8");
  EXPECT_EQ(found->trends(0).points_size(), 2);
}

TEST_F(Trends, TakeTheDefaultsOfAnOperatorThatIsKnown) {
  add({});
  v1::OperatorInfo info;
  info.set_name("fake");
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"behaviour", "ok"}, {"when", "open"}, {"ns", "1000000"}, {"rows", "4"}}) {
    v1::AxisInfo& axis = *info.add_axes();
    axis.set_name(name);
    axis.set_default_value(value);
  }
  EXPECT_TRUE(trend(*store_, request(), &info).ok());
  v1::TrendRequest asked = request();
  asked.add_axes()->set_name("rows");
  asked.mutable_axes(0)->set_value("5");
  EXPECT_EQ(trend(*store_, asked, &info).status().message(),
            "axes: no series of `behaviour=ok,when=open,ns=1000000,rows=5,seed=0`; there is "
            "`behaviour=ok,when=open,ns=1000000,rows=4,seed=0` (1 point)");
  asked.mutable_axes(0)->set_name("row");
  EXPECT_EQ(trend(*store_, asked, &info).status().message(),
            "axes[0].name: `fake` has no axis `row`; it is one of `behaviour`, `ns`, `rows`, "
            "`seed`, `when`");
  asked.mutable_axes(0)->set_name("seed");
  EXPECT_FALSE(trend(*store_, asked, &info).ok());
  asked.mutable_axes(0)->set_value("0");
  EXPECT_TRUE(trend(*store_, asked, &info).ok());
}

TEST_F(Trends, GiveEachDeviceASeriesOfItsOwn) {
  add_level({.median_ns = 100'000}, 4);
  add_level({.median_ns = 200'000, .uuid = "other-uuid"}, 6);
  const auto found = look(request("twin"));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->trends_size(), 2);
  EXPECT_EQ(found->trends(0).series().device_uuid(), "fake-uuid");
  EXPECT_EQ(found->trends(0).points_size(), 4);
  EXPECT_EQ(found->trends(0).missing(), "not enough points (have 4, need 6)");
  EXPECT_EQ(found->trends(1).points_size(), 6);
  EXPECT_EQ(found->trends(1).change_points_size(), 0);
}

TEST_F(Trends, FindALevelThatChangedAndSizeIt) {
  add_level({.median_ns = 100'000}, 8);
  const std::int64_t last = add_level({.median_ns = 110'000}, 8);
  const auto found = look(request("twin"));
  ASSERT_TRUE(found.ok()) << found.status();
  const v1::Trend& trend = found->trends(0);
  ASSERT_EQ(trend.points_size(), 16);
  ASSERT_EQ(trend.change_points_size(), 1) << trend.DebugString();
  EXPECT_EQ(trend.change_points(0).first(), 8U);
  EXPECT_NEAR(trend.change_points(0).ratio(), 1.1, 0.003);
  EXPECT_FALSE(trend.change_points(0).pending());
  ASSERT_EQ(trend.segments_size(), 2);
  EXPECT_EQ(trend.segments(1).level_ns(), 110'000);
  EXPECT_EQ(kinds(trend), Kinds{v1::TIME_CHANGED});
  EXPECT_EQ(trend.events(0).experiment_id(), last - 7);
}

TEST_F(Trends, TellEventsFromChangesOfTime) {
  add_level({}, 6);
  add({.code = "other code"});
  add({.bits = "bbbb", .driver = "driver 2"});
  v1::Golden golden;
  golden.set_operator_name("fake");
  golden.set_workload("behaviour=ok,when=open,ns=1000000,rows=4,seed=0");
  golden.set_tensor("out");
  golden.set_family("baseline");
  golden.set_domain("cpu");
  golden.set_digest("bbbb");
  golden.set_reason("shorter sum");
  golden.set_experiment_id(8);
  ASSERT_TRUE(store_->accept_bits({golden}, now_ns_ + 1).ok());
  // Bits of a family that the series does not have are none of its events.
  golden.set_family("own");
  golden.set_reason("other bits");
  ASSERT_TRUE(store_->accept_bits({golden}, now_ns_ + 2).ok());
  const auto found = look(request("twin"));
  ASSERT_TRUE(found.ok()) << found.status();
  const v1::Trend& trend = found->trends(0);
  EXPECT_EQ(kinds(trend),
            (Kinds{v1::CODE_CHANGED,
                   v1::BITS_CHANGED,
                   v1::CODE_CHANGED,
                   v1::BITS_ACCEPTED,
                   v1::ENVIRONMENT_CHANGED}))
      << trend.DebugString();
  EXPECT_EQ(trend.events(4).detail(), "driver driver 1, now driver 2");
  EXPECT_EQ(trend.events(3).detail(), "epoch 1: shorter sum");
  EXPECT_EQ(trend.events(3).point(), 7U);
  EXPECT_EQ(trend.change_points_size(), 0);
}

TEST_F(Trends, FollowTheFastestArmThatWasNotRejected) {
  for (int i = 0; i < 7; ++i) {
    add({.median_ns = 100'000});
    add({.median_ns = 50'000, .arm = "fast:width=4", .rejected = true});
  }
  const auto found = look(request());
  ASSERT_TRUE(found.ok()) << found.status();
  const v1::Trend& trend = found->trends(0);
  EXPECT_EQ(trend.series().variant(), "best");
  EXPECT_EQ(trend.series().series_id(), 0);
  EXPECT_EQ(trend.series().num_points(), 7U);
  EXPECT_EQ(trend.points(6).arm(), "twin:width=4");
  const auto rejected = look(request("fast"));
  ASSERT_TRUE(rejected.ok()) << rejected.status();
  EXPECT_EQ(rejected->trends(0).missing(), "not enough points (have 0, need 6)");
  EXPECT_TRUE(rejected->trends(0).points(0).rejected());
}

TEST_F(Trends, TakeTheModesWithTheMostPoints) {
  add_level({.median_ns = 100'000}, 2);
  add_level({.median_ns = 300'000, .cache = v1::COLD}, 3);
  v1::TrendRequest asked = request("twin");
  EXPECT_EQ(look(asked)->trends(0).series().cache_mode(), v1::COLD);
  asked.set_cache_mode(v1::HOT);
  EXPECT_EQ(look(asked)->trends(0).points_size(), 2);
}

TEST_F(Trends, TakeAChangeBelowTheNoiseFloorForNone) {
  add_level({.median_ns = 100'000}, 8);
  add_level({.median_ns = 103'000}, 8);
  ASSERT_EQ(look(request("twin"))->trends(0).change_points_size(), 1);
  v1::NoiseFloor floor;
  floor.set_device_uuid("fake-uuid");
  floor.set_operator_name("fake");
  floor.set_workload("behaviour=ok,when=open,ns=1000000,rows=4,seed=0");
  floor.set_cache_mode(v1::HOT);
  floor.set_launch_mode(v1::STREAM);
  floor.set_timing_source(v1::STEADY_CLOCK);
  floor.set_noise_floor(0.05);
  ASSERT_TRUE(store_->set_noise_floor(floor).ok());
  EXPECT_EQ(look(request("twin"))->trends(0).change_points_size(), 0);
}

}  // namespace
}  // namespace assay::server
