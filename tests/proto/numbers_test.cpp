#include "proto/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::proto {
namespace {

TEST(Numbers, NeverShowsNanOrInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ratio_text(nan), "-");
  EXPECT_EQ(estimate_text(nan), "-");
  EXPECT_EQ(percent_text(std::numeric_limits<double>::infinity()), "-");
}

TEST(Numbers, GroupsThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(counted(1, "item"), "1 item");
  EXPECT_EQ(counted(0, "item"), "0 items");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1168), "1,168");
  EXPECT_EQ(with_commas(-1000000), "-1,000,000");
  EXPECT_EQ(with_commas(-100), "-100");
  EXPECT_EQ(with_commas(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Numbers, ShowsMicrosecondsWithFourDigits) {
  EXPECT_EQ(in_microseconds(0), "0");
  EXPECT_EQ(in_microseconds(771), "0.7710");
  EXPECT_EQ(in_microseconds(12'344), "12.34");
  EXPECT_EQ(in_microseconds(123'450), "123.5");
  EXPECT_EQ(in_microseconds(1'234'600), "1,235");
  EXPECT_EQ(in_microseconds(12'345'678), "12,346");
}

TEST(Numbers, ShowsSharesDurationsSizesAndTimes) {
  EXPECT_EQ(percent_text(0.62), "62 %");
  EXPECT_EQ(percent_text(0.015), "1.5 %");
  EXPECT_EQ(interval_text(0.9, 1.0), "[0.900, 1.000]");
  EXPECT_EQ(duration_text(1'500'000'000), "1.5 s");
  EXPECT_EQ(duration_text(125'000'000'000), "2 min 5 s");
  EXPECT_EQ(duration_text(350'000'000), "350 ms");
  EXPECT_EQ(bytes_text(1'610'612'736), "1.50 GiB");
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(time_text(1'769'860'805'000'000'000), "2026-01-31 12:00:05");
}

TEST(Numbers, KeepsControlCharactersOutOfALine) {
  EXPECT_EQ(one_line("a\033[31m\nb\x7f"), "a [31m b ");
  EXPECT_EQ(one_line("a\xc2\x9b"
                     "31m \xc2\xa0\xc2"),
            "a 31m \xc2\xa0\xc2");
}

TEST(Numbers, PutsQuantitiesIntoTheUnitThatIsRead) {
  EXPECT_EQ(quantity_text(4.625e12, "bytes/s"), "4.62 TB/s");
  EXPECT_EQ(quantity_text(999.7e9, "bytes/s"), "1.000 TB/s");
  EXPECT_EQ(quantity_text(31.4e9, "bytes/s"), "31.4 GB/s");
  EXPECT_EQ(quantity_text(512, "bytes"), "512 B");
  EXPECT_EQ(quantity_text(989e12, "flop/s"), "989 TFLOP/s");
  EXPECT_EQ(quantity_text(2e9, "flop"), "2.00 GFLOP");
  EXPECT_EQ(quantity_text(2310, "ns"), "2.31 us");
  EXPECT_EQ(quantity_text(-31, "ns"), "-31.0 ns");
  EXPECT_EQ(quantity_text(0.015, "share"), "1.5 %");
  EXPECT_EQ(quantity_text(12, "cycles"), "12.00 cycles");
  EXPECT_EQ(quantity_text(1.0 / 0.0, "bytes/s"), "-");
  EXPECT_EQ(raw_number_text(0.1), "0.1");
  EXPECT_EQ(raw_number_text(-1.0 / 0.0), "");
}

}  // namespace
}  // namespace assay::proto
