#include "client/moment.h"

namespace assay::client {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1'790'000'000 * kSecond;

TEST(Moment, ReadsDatesAndTimesAndHowLongAgo) {
  EXPECT_EQ(*parse_moment("2026-01-31", kNow), 1'769'817'600 * kSecond);
  EXPECT_EQ(*parse_moment("2026-01-31T12:00:00Z", kNow), 1'769'860'800 * kSecond);
  EXPECT_EQ(*parse_moment("2026-01-31T12:00:00.5+02:00", kNow),
            1'769'853'600 * kSecond + kSecond / 2);
  EXPECT_EQ(*parse_moment("2h", kNow), kNow - 7'200 * kSecond);
  EXPECT_EQ(*parse_moment("3d ago", kNow), kNow - 259'200 * kSecond);
}

TEST(Moment, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "ago",
                           "yesterday",
                           "2026-13-01",
                           "2026-02-30",
                           "2026-01-31T25:00:00Z",
                           "1969-12-31",
                           "1970-01-01",
                           "99999d",
                           "9999-01-01",
                           "-2h",
                           "infinite-future",
                           "2026-01-31 x"}) {
    const absl::Status status = parse_moment(text, kNow).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(std::string(status.message()).find("expected a date, RFC 3339"), std::string::npos);
    EXPECT_NE(std::string(status.message()).find("after 1970-01-01"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::client
