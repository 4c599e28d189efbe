#include "client/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::client {
namespace {

v1::KernelCounters with(std::initializer_list<std::pair<std::string_view, double>> metrics) {
  v1::KernelCounters kernel;
  for (const auto& [name, value] : metrics) {
    v1::Metric& metric = *kernel.add_metrics();
    metric.set_name(std::string(name));
    metric.set_value(value);
  }
  return kernel;
}

TEST(Metrics, KnowNothingOfWhatWasNotCounted) {
  EXPECT_FALSE(dram_bytes(with({{kDramRead, 5}})));
  EXPECT_FALSE(tensor_flops(with({{kFusedMultiplyAdds, 5}})));
  EXPECT_FALSE(scalar_flops(with({{kTensorFlops, 5}})));
  EXPECT_FALSE(metric_of(with({{kDramRead, std::nan("")}}), kDramRead));
}

TEST(Metrics, CountAFusedMultiplyAddTwice) {
  const v1::KernelCounters kernel =
      with({{kFusedMultiplyAdds, 10}, {kAdds, 3}, {kMultiplies, 4}, {kTensorFlops, 100}});
  EXPECT_EQ(scalar_flops(kernel), 27);
  EXPECT_EQ(tensor_flops(kernel), 100);
  EXPECT_EQ(dram_bytes(with({{kDramRead, 5}, {kDramWritten, 6}})), 11);
}

TEST(Metrics, ShowKnownOnesByTitleAndOthersByName) {
  EXPECT_EQ(metric_title(kDramRead), "DRAM read");
  EXPECT_EQ(metric_title("sm__other.sum"), "sm__other.sum");
  EXPECT_LT(metric_rank(kDramWritten), metric_rank("sm__other.sum"));
  EXPECT_EQ(metric_rank("sm__other.sum"), metric_rank("sm__another.sum"));
}

TEST(Metrics, TakeTheUnitFromTheName) {
  EXPECT_EQ(metric_text(kDramRead, 1.5e9), "1.50 GB");
  EXPECT_EQ(metric_text("dram__bytes.sum.per_second", 3e12), "3.00 TB/s");
  EXPECT_EQ(metric_text("lts__t_sector_hit_rate.pct", 62.5), "62 %");
  EXPECT_EQ(metric_text(kKernelTime, 2310), "2.31 us");
  EXPECT_EQ(metric_text(kTensorFlops, 2e12), "2.00 TFLOP");
  EXPECT_EQ(metric_text("sm__cycles_active.avg", 12345), "12,345");
  EXPECT_EQ(metric_text("sm__cycles_active.avg", 7), "7");
  EXPECT_EQ(metric_text("sm__cycles_active.avg", 7.25), "7.250");
}

}  // namespace
}  // namespace assay::client
