#include "client/counters_report.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CountersReport, SaysWhyCountersAreMissing) {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations(0)->mutable_baseline()->set_counters_missing(
      "ERR_NVGPUCTRPERM: not permitted");
  experiment.mutable_configurations(0)->mutable_candidate()->set_counters_missing(
      "ERR_NVGPUCTRPERM: not permitted");
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_TRUE(has(text, "\ncounters: ERR_NVGPUCTRPERM: not permitted\nroofline: ")) << text;
}

TEST(CountersReport, IsSilentWhereNobodyAsked) {
  EXPECT_FALSE(asks_for_counters(made_up_comparison()));
  EXPECT_FALSE(has(text_of(made_up_comparison(), Format::kTable), "counters:"));
  EXPECT_TRUE(has(counters_text(made_up_comparison(), Format::kTable),
                  "\ncounters: none were asked for; `--counters dram,l2"));
}

TEST(CountersReport, ShowsKernelsWithTheirMetricsAndTheRateOfTheTimedRun) {
  const std::string text = text_of(made_up_profile(), Format::kTable);
  EXPECT_TRUE(
      has(text,
          "arm  stage  kernel        DRAM rate  DRAM read  DRAM written  L2 hits  tensor flop     "
          "fp32 fma  sm__made_up.sum\n"
          "A    chunk  chunk_kernel  2.00 TB/s    1.50 GB        500 MB     62 %   3.00 GFLOP  "
          "500,000,000                7\n"))
      << text;
  EXPECT_TRUE(has(counters_text(made_up_profile(), Format::kCsv),
                  "\n7,1,\"kv=int8,n_q=1,width=2051,seed=0\",baseline,one_cell:threads=2,chunk,"
                  "chunk_kernel,sm__made_up.sum,7\n"));
}

TEST(CountersReport, ShowsNothingOfARejectedRow) {
  v1::Experiment experiment = made_up_profile();
  experiment.mutable_configurations(0)->mutable_verdicts(0)->set_verdict(v1::REJECTED);
  const std::string text = text_of(experiment, Format::kTable);
  EXPECT_FALSE(has(text, "TB/s")) << text;
}

TEST(RooflineReport, ShowsWhatBoundsAStageAndTheCall) {
  const std::string text = roofline_text(made_up_profile(), Format::kTable);
  EXPECT_TRUE(has(text,
                  "arm  stage  from        bytes        flop  flop/byte     flop rate  byte rate  "
                  "bounded by              at most  share\n"))
      << text;
  EXPECT_TRUE(has(text, "read, 4.00 TB/s    8.00 TFLOP/s   50 %\n")) << text;
  EXPECT_TRUE(has(text, "bf16, 800 TFLOP/s   800 TFLOP/s   38 %\n")) << text;
  EXPECT_TRUE(
      text.ends_with("\nceilings of 2026-01-31 12:00:05 (experiment 3): read 4.00 TB/s, "
                     "bf16 800 TFLOP/s, fp32 60.0 TFLOP/s\n"))
      << text;
}

TEST(RooflineReport, SaysHowToGetCeilings) {
  v1::Experiment experiment = made_up_profile();
  experiment.mutable_device()->clear_ceilings();
  EXPECT_TRUE(has(roofline_text(experiment, Format::kTable),
                  "\nno ceilings of this device are stored; `assay device bench` measures them\n"));
}

TEST(RooflineReport, GivesRawFiguresAsCsv) {
  const std::string text = roofline_text(made_up_profile(), Format::kCsv);
  EXPECT_TRUE(has(text,
                  "\n7,1,\"kv=int8,n_q=1,width=2051,seed=0\",baseline,one_cell:threads=2,chunk,"
                  "counters,2e+09,4e+09,1000000,2,4e+12,2e+12,read,4e+12,8e+12,0.5\n"))
      << text;
}

}  // namespace
}  // namespace assay::client
