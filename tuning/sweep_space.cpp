#include "tuning/sweep_space.h"

#include "proto/status.h"
#include "tuning/source_scope.h"
#include "tuning/space.h"

#include "absl/strings/str_cat.h"

#include <limits>
#include <map>
#include <utility>

namespace assay::tuning {
namespace {

absl::StatusOr<std::vector<Restriction>> parse_restrictions(std::span<const std::string> texts,
                                                            const std::vector<std::string>& names) {
  std::vector<Restriction> restrictions;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Restriction& restriction = restrictions.emplace_back();
    restriction.field = absl::StrCat("restrictions[", i, "]");
    auto expression = Expression::parse(texts[i], names);
    if (!expression.ok()) {
      return proto::annotate(expression.status(), restriction.field);
    }
    restriction.expression = *std::move(expression);
  }
  return restrictions;
}

}  // namespace

absl::StatusOr<PointSet> sweep_points(std::span<const v1::Axis> axes,
                                      std::span<const v1::Setting> fixed,
                                      std::span<const std::string> restrictions) {
  std::vector<TuningParameter> parameters;
  std::vector<std::string> names;
  std::vector<std::uint16_t> num_values;
  std::vector<std::map<std::string, std::uint16_t>> places;
  for (const v1::Axis& axis : axes) {
    if (axis.values_size() > std::numeric_limits<std::uint16_t>::max()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "axis `", axis.name(), "`: ", axis.values_size(), " values, the limit is 65,535"));
    }
    TuningParameter& parameter = parameters.emplace_back();
    parameter.name = axis.name();
    std::map<std::string, std::uint16_t>& known = places.emplace_back();
    for (const std::string& text : axis.values()) {
      const auto place = static_cast<std::uint16_t>(parameter.values.size());
      parameter.values.push_back(source_value(text));
      if (!known.emplace(equality_key(parameter.values.back()), place).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("axis `", axis.name(), "`: the value ", text, " stands twice"));
      }
    }
    names.push_back(axis.name());
    num_values.push_back(static_cast<std::uint16_t>(axis.values_size()));
  }
  for (const v1::Setting& setting : fixed) {
    parameters.push_back({.name = setting.name(), .values = {source_value(setting.value())}});
    names.push_back(setting.name());
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<Restriction> parsed, parse_restrictions(restrictions, names));
  ASSAY_ASSIGN_OR_RETURN(const SearchSpace space,
                         SearchSpace::make(std::move(parameters), std::move(parsed)));
  PointSet points(std::move(num_values));
  std::vector<std::uint16_t> point(axes.size());
  ASSAY_RETURN_IF_ERROR(space.visit([&](const TuningValues& values) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      point[axis] = places[axis].at(equality_key(values[axis]));
    }
    points.add(point);
    return points.size() <= kMaxPoints;
  }));
  if (points.size() > kMaxPoints) {
    return absl::ResourceExhaustedError(
        "sweep: more than 1,000,000 valid configurations, the limit; narrow its axes");
  }
  if (points.size() == 0) {
    return absl::FailedPreconditionError("sweep: the restrictions let no configuration through");
  }
  return points;
}

}  // namespace assay::tuning
