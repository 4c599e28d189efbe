#include "tuning/recorded_points.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::tuning {
namespace {

absl::StatusOr<PointSet> points_of_values(const std::vector<std::vector<std::string>>& rows) {
  v1::Recording recording;
  recording.add_parameters("block");
  recording.add_parameters("method");
  std::vector<v1::RecordedRow> recorded;
  for (const std::vector<std::string>& values : rows) {
    v1::RecordedRow& row = recorded.emplace_back();
    row.set_row(static_cast<std::uint32_t>(recorded.size()));
    for (const std::string& value : values) {
      row.add_values(value);
    }
  }
  return points_of(recording, recorded);
}

TEST(RecordedPoints, RefusesRowsThatAreNoPoints) {
  EXPECT_EQ(points_of_values({}).status().message(),
            "rows: expected at least one configuration of at least one parameter");
  EXPECT_EQ(points_of_values({{"1", "a"}, {"1"}}).status().message(),
            "row 2: has 1 values, expected 2");
  EXPECT_EQ(points_of_values({{"1", "a"}, {"1", "b"}, {"1", "a"}}).status().message(),
            "row 3: has the same values as row 1");
  EXPECT_EQ(points_of({}, std::vector<v1::RecordedRow>(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RecordedPoints, OrdersNumbersByValueAndTextAsItCame) {
  const auto points = points_of_values({{"128", "wide"}, {"32", "narrow"}, {"64", "wide"}});
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->num_values()[0], 3);
  EXPECT_EQ(points->num_values()[1], 2);
  const std::vector<std::vector<int>> expected = {{2, 0}, {0, 1}, {1, 0}};
  for (std::size_t i = 0; i < points->size(); ++i) {
    EXPECT_EQ((std::vector<int>{(*points)[i][0], (*points)[i][1]}), expected[i]);
  }
}

}  // namespace
}  // namespace assay::tuning
