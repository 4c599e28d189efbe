#include "client/recorded_values.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::client {
namespace {

constexpr char kNoSamples[] = "no samples";

struct Unit {
  std::string_view short_name;
  std::string_view name;
  double ns;
};

constexpr std::array<Unit, 5> kUnits = {{{"ns", "nanosecond", 1},
                                         {"us", "microsecond", 1e3},
                                         {"ms", "millisecond", 1e6},
                                         {"ms", "milisecond", 1e6},
                                         {"s", "second", 1e9}}};

}  // namespace

absl::StatusOr<std::string> recorded_text(const OrderedJson& value) {
  if (value.is_structured()) {
    return absl::InvalidArgumentError("expected a number, a text, true or false");
  }
  if (value.is_null()) {
    return "";
  }
  return value.is_string() ? value.get<std::string>() : dump_line(value);
}

OrderedJson json_of(const std::string& text) {
  const OrderedJson parsed = OrderedJson::parse(text, nullptr, false);
  const bool is_same = (parsed.is_number() || parsed.is_boolean()) && parsed.dump() == text;
  return is_same ? parsed : OrderedJson(text);
}

std::optional<double> number_of(const OrderedJson& value) {
  if (!value.is_number()) {
    return std::nullopt;
  }
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

absl::StatusOr<double> unit_ns(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (name == unit.short_name || name == unit.name || name == std::string(unit.name) + "s") {
      return unit.ns;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("`", std::string(name), "` is no unit of time; expected ns, us, ms or s"));
}

double to_ns(double value, double unit_ns) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  const double value_ns = value * unit_ns;
  const double whole_ns = std::round(value_ns);
  return std::abs(value_ns - whole_ns) <= kRounding * std::abs(value_ns) ? whole_ns : value_ns;
}

double from_ns(double value_ns, double unit_ns) {
  const double value = value_ns / unit_ns;
  const double up = std::nextafter(value, std::numeric_limits<double>::infinity());
  const double down = std::nextafter(value, -std::numeric_limits<double>::infinity());
  for (const double candidate : {value, up, down}) {
    if (to_ns(candidate, unit_ns) == value_ns) {
      return candidate;
    }
  }
  return value;
}

std::string failure_text(const v1::RecordedRow& row) {
  if (row.failure() == v1::FAILURE_CLASS_UNSPECIFIED) {
    return row.message().empty() ? kNoSamples : row.message();
  }
  const std::string& name = v1::FailureClass_Name(row.failure());
  return row.message().empty() ? name : absl::StrCat(name, ": ", row.message());
}

void set_failure(v1::RecordedRow& row, const std::string& text, v1::FailureClass otherwise) {
  if (text == kNoSamples) {
    return;
  }
  const std::size_t colon = text.find(": ");
  v1::FailureClass failure = v1::FAILURE_CLASS_UNSPECIFIED;
  const bool is_named = v1::FailureClass_Parse(text.substr(0, colon), &failure) &&
                        failure != v1::FAILURE_CLASS_UNSPECIFIED;
  row.set_failure(is_named ? failure : otherwise);
  if (!is_named) {
    row.set_message(text);
  } else if (colon != std::string::npos) {
    row.set_message(text.substr(colon + 2));
  }
}

void add_metric(v1::RecordedRow& row, const std::string& name, double value) {
  v1::Metric& metric = *row.add_metrics();
  metric.set_name(name);
  metric.set_value(value);
}

std::optional<double> find_metric(const v1::RecordedRow& row, std::string_view name) {
  for (const v1::Metric& metric : row.metrics()) {
    if (metric.name() == name) {
      return metric.value();
    }
  }
  return std::nullopt;
}

std::string dump_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace assay::client
