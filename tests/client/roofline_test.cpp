#include "client/roofline.h"

#include "client/metrics.h"
#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

std::vector<RooflinePoint> points_of(const v1::Experiment& experiment, Role role) {
  return roofline(experiment, experiment.configurations(0), role);
}

v1::KernelCounters& counters_of(v1::Experiment& experiment) {
  return *experiment.mutable_configurations(0)->mutable_baseline()->mutable_counters(0);
}

TEST(Roofline, SaysNothingOfARejectedRow) {
  v1::Experiment experiment = made_up_profile();
  ASSERT_FALSE(points_of(experiment, Role::kBaseline).empty());
  experiment.mutable_configurations(0)->mutable_verdicts(0)->set_verdict(v1::REJECTED);
  EXPECT_TRUE(points_of(experiment, Role::kBaseline).empty());
}

TEST(Roofline, BoundsAStageByReadingAndTheCallByArithmetic) {
  const std::vector<RooflinePoint> points = points_of(made_up_profile(), Role::kBaseline);
  ASSERT_EQ(points.size(), 2U);
  // 2 GB in 1,000 us are 2 TB/s of 4; 4 GFLOP are 2 for each byte.
  EXPECT_EQ(points[0].stage, "chunk");
  EXPECT_TRUE(points[0].is_counted);
  EXPECT_DOUBLE_EQ(*points[0].flop_per_byte(), 2);
  EXPECT_DOUBLE_EQ(*points[0].bytes_per_second(), 2e12);
  EXPECT_DOUBLE_EQ(*points[0].flops_per_second(), 4e12);
  EXPECT_EQ(points[0].bound, "read");
  EXPECT_DOUBLE_EQ(points[0].attainable, 8e12);
  EXPECT_DOUBLE_EQ(points[0].share, 0.5);
  // The workload asks for 600 GFLOP and 1 GB in 2,000 us: 300 of 800 TFLOP/s.
  EXPECT_EQ(points[1].stage, "total");
  EXPECT_FALSE(points[1].is_counted);
  EXPECT_EQ(points[1].bound, "bf16");
  EXPECT_DOUBLE_EQ(points[1].attainable, 800e12);
  EXPECT_DOUBLE_EQ(points[1].share, 0.375);
}

TEST(Roofline, TakesTheCeilingOfTensorCoresOnlyWhereMostOfTheWorkIsTheirs) {
  v1::Experiment experiment = made_up_profile();
  for (v1::Metric& metric : *counters_of(experiment).mutable_metrics()) {
    metric.set_value(metric.name() == kTensorFlops ? 1e9 : metric.value());
  }
  const std::vector<RooflinePoint> points = points_of(experiment, Role::kBaseline);
  EXPECT_EQ(points[1].bound, "fp32") << "the call is counted by its stages";
  counters_of(experiment).clear_metrics();
  EXPECT_EQ(points_of(experiment, Role::kBaseline).back().bound, "bf16") << "nobody counted";
}

TEST(Roofline, HasNoRateWhereAStageHasNoTimeAndNoBoundWithoutCeilings) {
  v1::Experiment experiment = made_up_profile();
  experiment.mutable_device()->clear_ceilings();
  counters_of(experiment).set_stage("merge");
  const std::vector<RooflinePoint> points = points_of(experiment, Role::kBaseline);
  EXPECT_DOUBLE_EQ(*points[0].flop_per_byte(), 2);
  EXPECT_FALSE(points[0].bytes_per_second());
  EXPECT_EQ(points[0].bound, "");
  EXPECT_EQ(points[0].share, 0);
}

TEST(Roofline, BoundsACopyByReading) {
  v1::Experiment experiment = made_up_profile();
  for (v1::Metric& metric : *counters_of(experiment).mutable_metrics()) {
    metric.set_value(metric.name().starts_with("dram") ? metric.value() : 0);
  }
  const std::vector<RooflinePoint> points = points_of(experiment, Role::kBaseline);
  EXPECT_EQ(points[0].bound, "read");
  EXPECT_DOUBLE_EQ(points[0].share, 0.5);
  EXPECT_EQ(points[0].attainable, 0);
}

}  // namespace
}  // namespace assay::client
