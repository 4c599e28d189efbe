#include "client/duration.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(Duration, RefusesWhatIsNoDurationAndShowsTheForm) {
  for (const char* text :
       {"", "5", "s", "5 s", "-5s", "5x", "1e3s", "0s", "0.1ns", "1..5s", "99999999h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(absl::IsInvalidArgument(parsed.status())) << text;
    EXPECT_NE(std::string(parsed.status().message()).find("500ms, 2s, 5m or 30d, at most 3660d"),
              std::string::npos);
  }
}

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(*parse_duration("100ns"), 100);
  EXPECT_EQ(*parse_duration("20us"), 20'000);
  EXPECT_EQ(*parse_duration("500ms"), 500'000'000);
  EXPECT_EQ(*parse_duration("1.5s"), 1'500'000'000);
  EXPECT_EQ(*parse_duration("5m"), 300'000'000'000);
  EXPECT_EQ(*parse_duration("2h"), 7'200'000'000'000);
}

TEST(Effect, RefusesWhatIsNoShareOfHalfOrLess) {
  for (const char* text : {"", "%", "0", "0%", "-1%", "51%", "0.6", "1%%", "nan", "inf", "one"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(parse_effect(text).status())) << text;
  }
}

TEST(Effect, ReadsPercentsAndShares) {
  EXPECT_DOUBLE_EQ(*parse_effect("1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_effect("0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(*parse_effect("0.02"), 0.02);
}

}  // namespace
}  // namespace assay::client
