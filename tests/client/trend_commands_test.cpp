#include "client/trend_text.h"
#include "tests/client/commands_fixture.h"

namespace assay::client {
namespace {

class TrendCommands : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    v1::Trend& trend = *service_.trends.add_trends();
    v1::Series& series = *trend.mutable_series();
    series.set_series_id(12);
    series.set_operator_name("qsa_decode");
    series.set_workload("n_q=1,seed=0");
    series.set_stage("total");
    series.set_variant("two_cell");
    series.set_arm("two_cell:threads=2");
    series.set_device_uuid("GPU-1");
    series.set_device_model("some model");
    series.set_cache_mode(v1::HOT);
    series.set_launch_mode(v1::STREAM);
    series.set_timing_source(v1::CUPTI_ACTIVITY);
    for (int i = 0; i < 6; ++i) {
      v1::SeriesPoint& point = *trend.add_points();
      point.set_experiment_id(20 + i);
      point.set_median_ns(i < 3 ? 10'000 : 11'000);
      point.set_lower_quartile_ns(point.median_ns() - 100);
      point.set_upper_quartile_ns(point.median_ns() + 100);
      point.set_commit("0123456789abcdef");
      point.set_dirty(i == 5);
      point.set_branch("main");
      point.set_arm("two_cell:threads=2");
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      v1::Segment& segment = *trend.add_segments();
      segment.set_first(3 * i);
      segment.set_last(3 * i + 2);
      segment.set_level_ns(10'000 + 1'000 * i);
      segment.set_noise(0.002);
    }
    v1::ChangePoint& change = *trend.add_change_points();
    change.set_first(3);
    change.set_ratio(1.1);
    change.set_ratio_low(1.09);
    change.set_ratio_high(1.11);
    v1::SeriesEvent& event = *trend.add_events();
    event.set_kind(v1::CODE_CHANGED);
    event.set_point(3);
    event.set_detail("other code");
    trend.set_noise(0.0015);
    v1::Regression& regression = *service_.regression_list.add_regressions();
    regression.set_regression_id(7);
    *regression.mutable_series() = series;
    regression.set_state(v1::CONFIRMED);
    regression.set_ratio(1.1);
    regression.set_ratio_low(1.09);
    regression.set_ratio_high(1.11);
    regression.set_reason("confirmed: it is as slow");
  }

  v1::Regression& regression() { return *service_.regression_list.mutable_regressions(0); }
};

TEST_F(TrendCommands, ShowPointsWithWhereTheyChange) {
  EXPECT_EQ(run_with({"trend",
                      "qsa_decode",
                      "-a",
                      "n_q=1",
                      "--variant",
                      "two_cell",
                      "--device",
                      "h200",
                      "--order",
                      "commit",
                      "--timing",
                      "cupti-activity"}),
            0)
      << err();
  EXPECT_EQ(service_.trend_asked.operator_name(), "qsa_decode");
  EXPECT_EQ(service_.trend_asked.axes(0).value(), "1");
  EXPECT_EQ(service_.trend_asked.variant(), "two_cell");
  EXPECT_EQ(service_.trend_asked.device(), "h200");
  EXPECT_EQ(service_.trend_asked.order(), v1::BY_COMMIT);
  EXPECT_EQ(service_.trend_asked.timing_source(), v1::CUPTI_ACTIVITY);
  EXPECT_TRUE(
      said("qsa_decode two_cell:threads=2, total\nn_q=1,seed=0\n"
           "some model (GPU-1), hot, stream, cupti activity\n"
           "6 points, noise 0.15 % a run\n▁▁▁███\n"))
      << out();
  EXPECT_TRUE(said("*          23")) << out();
  EXPECT_TRUE(said("1.100 [1.090, 1.110]  code changed: other code")) << out();
  EXPECT_TRUE(said("0123456789+")) << out();
  EXPECT_TRUE(said("  23  25       3     11.00  0.20 %")) << out();
}

TEST_F(TrendCommands, ShowTheFirstDigitsOfDigests) {
  service_.trends.mutable_trends(0)->mutable_events(0)->set_detail(
      "0123456789abcdef0123456789abcdef, now fedcba9876543210fedcba9876543210 at 1234567");
  EXPECT_EQ(run_with({"trend", "qsa_decode"}), 0) << err();
  EXPECT_TRUE(said("code changed: 01234567, now fedcba98 at 1234567\n")) << out();
}

TEST_F(TrendCommands, TakeTheAxesOfANamedWorkload) {
  v1::NamedWorkload& workload = *service_.operator_list.mutable_operators(0)->add_workloads();
  workload.set_name("wide");
  v1::Setting& width = *workload.add_axes();
  width.set_name("width");
  width.set_value("32768");
  EXPECT_EQ(run_with({"trend", "qsa_decode", "--workload", "wide", "-a", "n_q=2"}), 0) << err();
  ASSERT_EQ(service_.trend_asked.axes_size(), 2);
  EXPECT_EQ(service_.trend_asked.axes(0).value(), "32768");
  EXPECT_EQ(service_.trend_asked.axes(1).value(), "2");
  EXPECT_EQ(run_with({"trend", "qsa_decode", "--workload", "tall"}), 2);
  EXPECT_TRUE(said("--workload: `qsa_decode` has no workload `tall`; see `assay operators"))
      << err();
}

TEST_F(TrendCommands, ShowAPendingChangeAndTooFewPoints) {
  v1::Trend& trend = *service_.trends.mutable_trends(0);
  trend.mutable_change_points(0)->set_pending(true);
  trend.clear_segments();
  trend.set_missing("not enough points (have 3, need 6)");
  EXPECT_EQ(run_with({"trend", "--series", "12"}), 0) << err();
  EXPECT_EQ(service_.trend_asked.series_id(), 12);
  EXPECT_TRUE(said("6 points; no levels: not enough points (have 3, need 6)\n")) << out();
  EXPECT_TRUE(said("about 1.1, pending")) << out();
}

TEST_F(TrendCommands, WriteRawPointsForPrograms) {
  EXPECT_EQ(run_with({"trend", "qsa_decode", "--format", "csv"}), 0) << err();
  EXPECT_TRUE(
      said("\n12,qsa_decode,\"n_q=1,seed=0\",total,two_cell,two_cell:threads=2,GPU-1,HOT,"
           "STREAM,CUPTI_ACTIVITY,23,0,,0,0123456789abcdef,0,0,main,11000,10900,11100,0,,,"
           ",0,0,0,1,0\n"))
      << out();
}

TEST_F(TrendCommands, ListSeries) {
  EXPECT_EQ(run_with({"trend", "--list", "--stage", "all"}), 0) << err();
  EXPECT_EQ(service_.series_asked.stage(), "all");
  EXPECT_TRUE(
      said("operator  qsa_decode\ndevice    some model\nworkload  n_q=1, seed=0\n\n"
           "series  arm                 stage  modes  "))
      << out();
  EXPECT_TRUE(said("\n    12  two_cell:threads=2  total  hot, stream, cupti activity  ")) << out();
  EXPECT_EQ(run_with({"trend", "--list", "--format", "csv"}), 0) << err();
  EXPECT_TRUE(said("\n12,qsa_decode,two_cell:threads=2,\"n_q=1,seed=0\",total,GPU-1,")) << out();
  EXPECT_EQ(run_with({"trend", "--list", "--stage", "all"}), 0) << err();
  EXPECT_EQ(err(), "more: assay trend --list --page further\n");
}

TEST_F(TrendCommands, RefuseWhatNamesNoSeries) {
  EXPECT_EQ(run_with({"trend"}), 2);
  EXPECT_TRUE(said("operator: name one, or a series with --series")) << err();
  EXPECT_EQ(run_with({"trend", "qsa_decode", "-a", "n_q=[1,2]"}), 2);
  EXPECT_TRUE(said("-a n_q: a trend is of one value")) << err();
  EXPECT_EQ(run_with({"trend", "qsa_decode", "--order", "age"}), 2);
  EXPECT_TRUE(said("--order: `age`: expected one of commit, time")) << err();
}

TEST_F(TrendCommands, ListOpenRegressionsUnlessAskedOtherwise) {
  EXPECT_EQ(run_with({"regressions"}), 0) << err();
  EXPECT_TRUE(service_.regressions_asked.only_open());
  EXPECT_TRUE(said("confirmed  qsa_decode")) << out();
  EXPECT_TRUE(said("confirmed: it is as slow")) << out();
  EXPECT_EQ(run_with({"regressions", "--all"}), 0);
  EXPECT_FALSE(service_.regressions_asked.only_open());
  EXPECT_EQ(run_with({"regressions", "--state", "fixed"}), 0);
  EXPECT_EQ(service_.regressions_asked.state(), v1::FIXED);
  EXPECT_EQ(run_with({"regressions", "--state", "gone"}), 2);
  EXPECT_TRUE(said("--state: `gone`: expected one of acknowledged, confirmed")) << err();
}

TEST_F(TrendCommands, FailOnRegressionsWhenAsked) {
  EXPECT_EQ(run_with({"regressions", "--fail-on", "confirmed"}), 6);
  regression().set_state(v1::DETECTED);
  EXPECT_EQ(run_with({"regressions", "--fail-on", "confirmed"}), 0);
  EXPECT_EQ(run_with({"regressions", "--fail-on", "detected"}), 6);
  regression().set_state(v1::UNCONFIRMABLE);
  EXPECT_EQ(run_with({"regressions", "--fail-on", "detected"}), 6);
  regression().set_state(v1::ACKNOWLEDGED);
  EXPECT_EQ(run_with({"regressions", "--fail-on", "detected", "--all"}), 0);
  EXPECT_EQ(run_with({"regressions", "--fail-on", "anything"}), 2);
  EXPECT_TRUE(said("--fail-on: `anything`: expected confirmed or detected")) << err();
}

TEST_F(TrendCommands, AcknowledgeWithAReason) {
  EXPECT_EQ(run_with({"regressions", "acknowledge", "7", "--reason", "wider tile"}), 0) << err();
  EXPECT_EQ(service_.acknowledged.regression_id(), 7);
  EXPECT_EQ(service_.acknowledged.reason(), "wider tile");
  EXPECT_TRUE(said("acknowledged  qsa_decode")) << out();
  EXPECT_EQ(run_with({"regressions", "acknowledge", "7"}), 2);
  EXPECT_TRUE(said("--reason is required")) << err();
}

TEST_F(TrendCommands, ShowTheHistoryOfBits) {
  EXPECT_EQ(run_with({"bits", "history", "--digest", "abcd", "--device", "GPU-1"}), 0) << err();
  EXPECT_EQ(service_.bits_asked.digest(), "abcd");
  EXPECT_EQ(service_.bits_asked.device(), "GPU-1");
  EXPECT_TRUE(said("abcdef01")) << out();
  EXPECT_TRUE(said("1,200")) << out();
  EXPECT_TRUE(said("accepted, epoch 3: shorter sum")) << out();
  EXPECT_TRUE(out().starts_with("operator  qsa_decode\n")) << out();
  EXPECT_TRUE(said("  first experiment  ")) << out();
  EXPECT_TRUE(said("  last experiment  ")) << out();
}

TEST(Sparkline, HasABarAPointAndTheNewestOnes) {
  google::protobuf::RepeatedPtrField<v1::SeriesPoint> points;
  EXPECT_EQ(sparkline(points, 5), "");
  points.Add()->set_median_ns(10);
  EXPECT_EQ(sparkline(points, 5), "▁");
  points.Add()->set_median_ns(17);
  points.Add()->set_median_ns(13);
  EXPECT_EQ(sparkline(points, 5), "▁█▄");
  EXPECT_EQ(sparkline(points, 2), "█▁");
}

}  // namespace
}  // namespace assay::client
