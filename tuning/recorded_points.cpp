#include "tuning/recorded_points.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace assay::tuning {
namespace {

constexpr std::size_t kMaxValues = 65'535;

// Where each value of one parameter stands among them.
absl::StatusOr<std::map<std::string, std::uint16_t>> places_of(
    const std::string& name, std::span<const v1::RecordedRow> rows, int parameter) {
  struct Seen {
    std::string text;
    double number = 0;
  };

  std::vector<Seen> values;
  std::map<std::string, std::uint16_t> places;
  bool are_numbers = true;
  for (const v1::RecordedRow& row : rows) {
    const std::string& text = row.values(parameter);
    if (!places.emplace(text, 0).second) {
      continue;
    }
    Seen& seen = values.emplace_back(Seen{text});
    are_numbers = absl::SimpleAtod(text, &seen.number) && are_numbers;
  }
  if (values.size() > kMaxValues) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": more than 65,535 values"));
  }
  if (are_numbers) {
    std::ranges::stable_sort(values, {}, &Seen::number);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    places[values[i].text] = static_cast<std::uint16_t>(i);
  }
  return places;
}

}  // namespace

absl::StatusOr<PointSet> points_of(const v1::Recording& recording,
                                   std::span<const v1::RecordedRow> rows) {
  const int num_parameters = recording.parameters_size();
  if (rows.empty() || num_parameters == 0) {
    return absl::InvalidArgumentError(
        "rows: expected at least one configuration of at least one parameter");
  }
  for (const v1::RecordedRow& row : rows) {
    if (row.values_size() != num_parameters) {
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", row.row(), ": has ", row.values_size(), " values, expected ", num_parameters));
    }
  }
  std::vector<std::map<std::string, std::uint16_t>> places;
  std::vector<std::uint16_t> num_values;
  for (int i = 0; i < num_parameters; ++i) {
    ASSAY_ASSIGN_OR_RETURN(places.emplace_back(), places_of(recording.parameters(i), rows, i));
    num_values.push_back(static_cast<std::uint16_t>(places.back().size()));
  }
  PointSet points(std::move(num_values));
  std::map<std::vector<std::uint16_t>, std::uint32_t> first_rows;
  for (const v1::RecordedRow& row : rows) {
    std::vector<std::uint16_t> point;
    point.reserve(places.size());
    for (int i = 0; i < num_parameters; ++i) {
      point.push_back(places[static_cast<std::size_t>(i)][row.values(i)]);
    }
    const auto [first, is_new] = first_rows.emplace(point, row.row());
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", row.row(), ": has the same values as row ", first->second));
    }
    points.add(point);
  }
  return points;
}

}  // namespace assay::tuning
