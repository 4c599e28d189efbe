#include "profiler/cupti_metrics.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

// Needs the library and no device.
class CuptiMetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = load_cupti();
    if (!library.ok()) {
      GTEST_SKIP() << library.status();
    }
    auto metrics = CuptiMetrics::open(*library, "GH100");
    if (!metrics.ok()) {
      GTEST_SKIP() << metrics.status();
    }
    library_ = *library;
    metrics_ = *std::move(metrics);
  }

  absl::StatusOr<std::vector<std::string>> select(const std::vector<std::string>& counters) {
    const auto wanted = expand_counters(counters);
    return wanted.ok() ? metrics_->select(*wanted) : wanted.status();
  }

  CuptiLibrary library_;
  std::unique_ptr<CuptiMetrics> metrics_;
};

TEST_F(CuptiMetricsTest, SaysWhichCallAChipFailsThatThereIsNot) {
  const auto metrics = CuptiMetrics::open(library_, "XY999");
  ASSERT_FALSE(metrics.ok());
  EXPECT_EQ(std::string(metrics.status().message()).find("cuptiProfilerHostInitialize: CUPTI_"), 0U)
      << metrics.status();
}

TEST_F(CuptiMetricsTest, HasEveryMetricOfTheGroups) {
  const std::vector<std::string> counters = {"dram", "l2", "tensor", "occupancy"};
  const auto names = select(counters);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(names->size(), expand_counters(counters)->size());
  const auto image = metrics_->config_image(*names);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_FALSE(image->empty());
}

TEST_F(CuptiMetricsTest, NamesWhatIsNoMetricAndWhatIsNear) {
  EXPECT_EQ(std::string(select({"dram", "dram__byte_read.sum"}).status().message()),
            "counters: `dram__byte_read.sum` is no metric of GH100; near it are dram__bytes, "
            "dram__bytes_read, dram__bytes_write, dram__sectors, dram__throughput");
  EXPECT_EQ(std::string(select({"dram__bytes_read"}).status().message()),
            "counters: `dram__bytes_read` is no metric of GH100; near it are dram__bytes_read.avg, "
            "dram__bytes_read.max, dram__bytes_read.min, dram__bytes_read.sum, "
            "dram__bytes_read.avg.per_second");
}

TEST_F(CuptiMetricsTest, LeavesOutWhatAGroupLacks) {
  const std::vector<WantedMetric> wanted = {
      {.name = "lts__t_bytes.sum", .group = "l2"},
      {.name = "lts__no_such.sum", .group = "l2"},
      {.name = std::string(kDurationMetric), .group = "duration"}};
  const auto names = metrics_->select(wanted);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, (std::vector<std::string>{"lts__t_bytes.sum", std::string(kDurationMetric)}));
}

}  // namespace
}  // namespace assay::profiler
