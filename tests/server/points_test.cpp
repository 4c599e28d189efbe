#include "server/points.h"

#include "tests/server/series_fixture.h"

#include <limits>

namespace assay::server {
namespace {

class Points : public SeriesFixture {
 protected:
  static v1::Device device() {
    v1::Device device;
    device.set_uuid("fake-uuid");
    device.set_model("scripted");
    return device;
  }

  // Both arms, with a second stage in the candidate.
  static v1::Configuration comparison() {
    v1::Configuration configuration = configuration_of({.arm = "base"});
    *configuration.mutable_candidate() =
        configuration_of({.median_ns = 90'000, .arm = "twin:width=4"}).baseline();
    v1::StageSamples& merge = *configuration.mutable_candidate()->add_stages();
    merge = configuration.candidate().stages(0);
    merge.set_stage("merge");
    configuration.add_verdicts()->set_verdict(v1::FASTER);
    return configuration;
  }

  static v1::ExperimentSpec spec(v1::ExperimentKind kind) {
    v1::ExperimentSpec spec = spec_of({});
    spec.set_kind(kind);
    return spec;
  }
};

TEST_F(Points, AreOfEveryArmAndStage) {
  const auto entries = points_of(spec(v1::COMPARE), device(), comparison());
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].series.arm(), "base");
  EXPECT_EQ(entries[0].point.role(), "baseline");
  EXPECT_EQ(entries[1].series.arm(), "twin:width=4");
  EXPECT_EQ(entries[1].series.variant(), "twin");
  EXPECT_EQ(entries[1].point.role(), "candidate");
  EXPECT_EQ(entries[2].series.stage(), "merge");
  EXPECT_EQ(entries[1].series.device_uuid(), "fake-uuid");
  EXPECT_EQ(entries[1].series.timing_source(), v1::STEADY_CLOCK);
  EXPECT_EQ(entries[1].point.median_ns(), 90'000);
  EXPECT_EQ(entries[1].point.lower_quartile_ns(), 89'945);
  EXPECT_EQ(entries[1].point.upper_quartile_ns(), 90'055);
  EXPECT_EQ(entries[1].point.num_samples(), 12U);
  EXPECT_EQ(entries[1].point.bits_digest().size(), 32U);
  EXPECT_EQ(entries[1].point.bits_digest(), entries[0].point.bits_digest());
}

TEST_F(Points, ComeFromMeasurementsOfArmsAlone) {
  EXPECT_EQ(points_of(spec(v1::MEASURE), device(), configuration_of({})).size(), 1U);
  EXPECT_EQ(points_of(spec(v1::CALIBRATE), device(), comparison()).size(), 3U);
  EXPECT_EQ(points_of(spec(v1::SWEEP), device(), comparison()).size(), 0U);
  EXPECT_EQ(points_of(spec(v1::CHECK), device(), comparison()).size(), 0U);
  v1::ExperimentSpec confirmation = spec(v1::MEASURE);
  // -1: of a regression of another database.
  for (const std::int64_t regression_id : {3, -1}) {
    confirmation.set_confirms_regression_id(regression_id);
    EXPECT_EQ(points_of(confirmation, device(), configuration_of({})).size(), 0U);
  }
  EXPECT_EQ(baseline_points(confirmation, device(), configuration_of({})).size(), 1U);
}

TEST_F(Points, NeedADeviceThatCanBeToldFromOthers) {
  EXPECT_EQ(points_of(spec(v1::COMPARE), v1::Device(), comparison()).size(), 0U);
}

TEST_F(Points, AreOfGoodBlocksOnly) {
  v1::Configuration configuration = configuration_of({});
  v1::Measurement& measurement = *configuration.mutable_baseline();
  v1::Block& bad = *measurement.add_blocks();
  bad.set_round(1);
  bad.set_num_calls(12);
  bad.set_disqualified(true);
  for (int i = 0; i < 12; ++i) {
    measurement.mutable_stages(0)->add_samples_ns(900'000);
  }
  const auto entries = points_of(spec(v1::MEASURE), device(), configuration);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].point.median_ns(), 100'000);
  EXPECT_EQ(entries[0].point.num_samples(), 12U);
  measurement.mutable_blocks(0)->set_disqualified(true);
  EXPECT_EQ(points_of(spec(v1::MEASURE), device(), configuration).size(), 0U);
}

TEST_F(Points, AreOfTimesThatARunCanTake) {
  for (const std::int64_t sample_ns : {std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(),
                                       std::int64_t{-5},
                                       std::int64_t{0}}) {
    v1::Configuration configuration = configuration_of({});
    for (std::int64_t& of_run :
         *configuration.mutable_baseline()->mutable_stages(0)->mutable_samples_ns()) {
      of_run = sample_ns;
    }
    EXPECT_EQ(points_of(spec(v1::MEASURE), device(), configuration).size(), 0U) << sample_ns;
  }
}

TEST_F(Points, BlameTheArmThatWasRejected) {
  v1::Configuration configuration = comparison();
  v1::Verdict& verdict = *configuration.mutable_verdicts(0);
  verdict.set_verdict(v1::REJECTED);
  auto entries = points_of(spec(v1::COMPARE), device(), configuration);
  EXPECT_FALSE(entries[0].point.rejected());
  EXPECT_TRUE(entries[1].point.rejected());
  verdict.set_rejected_baseline(true);
  entries = points_of(spec(v1::COMPARE), device(), configuration);
  EXPECT_TRUE(entries[0].point.rejected());
  EXPECT_FALSE(entries[1].point.rejected());
}

TEST_F(Points, TakeTheMostRegistersOfTheirKernels) {
  v1::Configuration configuration = comparison();
  for (const auto& [stage, registers] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"chunk", 64}, {"merge", 32}}) {
    v1::KernelResources& kernel = *configuration.mutable_candidate()->add_resources();
    kernel.set_stage(stage);
    kernel.set_num_registers(registers);
    kernel.set_local_bytes(registers * 2);
  }
  const auto entries = points_of(spec(v1::COMPARE), device(), configuration);
  EXPECT_EQ(entries[1].point.num_registers(), 64U);
  EXPECT_EQ(entries[1].point.local_bytes(), 128);
  EXPECT_EQ(entries[2].point.num_registers(), 32U);
}

}  // namespace
}  // namespace assay::server
