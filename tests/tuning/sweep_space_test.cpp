#include "tuning/sweep_space.h"

namespace assay::tuning {
namespace {

v1::Axis axis(const std::string& name, const std::vector<std::string>& values) {
  v1::Axis axis;
  axis.set_name(name);
  axis.mutable_values()->Add(values.begin(), values.end());
  return axis;
}

v1::Setting setting(const std::string& name, const std::string& value) {
  v1::Setting setting;
  setting.set_name(name);
  setting.set_value(value);
  return setting;
}

std::string text_of(const PointSet& points) {
  std::string text;
  for (std::size_t point = 0; point < points.size(); ++point) {
    for (const std::uint16_t place : points[point]) {
      text += std::to_string(place);
    }
    text += " ";
  }
  return text;
}

TEST(SweepSpace, NamesTheRestrictionThatItCannotRead) {
  const std::vector<v1::Axis> axes = {axis("a", {"1"})};
  const std::vector<std::string> restrictions = {"a > 0", "b > 0"};
  const auto points = sweep_points(axes, {}, restrictions);
  EXPECT_EQ(points.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(points.status().message()).find("restrictions[1]"), std::string::npos)
      << points.status();
}

TEST(SweepSpace, RefusesAValueThatStandsTwiceAndASpaceOfNothing) {
  EXPECT_EQ(sweep_points(std::vector{axis("a", {"1", "1.0"})}, {}, {}).status(),
            absl::InvalidArgumentError("axis `a`: the value 1.0 stands twice"));
  const std::vector<std::string> never = {"a > 1"};
  EXPECT_EQ(sweep_points(std::vector{axis("a", {"1"})}, {}, never).status(),
            absl::FailedPreconditionError("sweep: the restrictions let no configuration through"));
}

TEST(SweepSpace, StopsAtAMillionValidConfigurations) {
  std::vector<std::string> values;
  for (int i = 0; i < 1'001; ++i) {
    values.push_back(std::to_string(i));
  }
  const std::vector<v1::Axis> axes = {axis("a", values), axis("b", values)};
  EXPECT_EQ(sweep_points(axes, {}, {}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(SweepSpace, GivesPlacesInTheOrderOfTheAxes) {
  const std::vector<v1::Axis> axes = {axis("a", {"8", "4"}), axis("b", {"x", "y", "z"})};
  const auto all = sweep_points(axes, {}, {});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(text_of(*all), "00 01 02 10 11 12 ");
  const std::vector<std::string> restrictions = {"a * width >= 32", "b != 'y'"};
  const auto some = sweep_points(axes, std::vector{setting("width", "8")}, restrictions);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(text_of(*some), "00 02 10 12 ");
  const auto fewer = sweep_points(axes, std::vector{setting("width", "4")}, restrictions);
  ASSERT_TRUE(fewer.ok()) << fewer.status();
  EXPECT_EQ(text_of(*fewer), "00 02 ");
}

}  // namespace
}  // namespace assay::tuning
