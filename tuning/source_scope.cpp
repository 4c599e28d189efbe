#include "tuning/source_scope.h"

#include "proto/status.h"
#include "tuning/source_check.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace assay::tuning {
namespace {

// Division gives floats; those that are whole are meant as sizes.
std::optional<std::int64_t> whole_number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    const bool is_whole = *real == std::trunc(*real) && std::fabs(*real) < 9e15;
    return is_whole ? std::optional(static_cast<std::int64_t>(*real)) : std::nullopt;
  }
  return integer_of(value);
}

}  // namespace

Value source_value(std::string_view text) {
  const absl::string_view view(text.data(), text.size());
  if (text == "true" || text == "True") {
    return true;
  }
  if (text == "false" || text == "False") {
    return false;
  }
  std::int64_t integer = 0;
  double real = 0;
  const bool is_number = text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  if (is_number && absl::SimpleAtoi(view, &integer)) {
    return integer;
  }
  if (is_number && absl::SimpleAtod(view, &real) && std::isfinite(real)) {
    return real;
  }
  return std::string(text);
}

absl::StatusOr<const v1::SourceVariant*> source_variant(const v1::SourceSpec& spec,
                                                        const std::string& name) {
  std::vector<std::string> names;
  for (const v1::SourceVariant& variant : spec.variants()) {
    if (variant.name() == name) {
      return &variant;
    }
    names.push_back(variant.name());
  }
  return source_not_found("variant", name, std::move(names));
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> source_parameters(
    const v1::SourceSpec& spec, const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(const v1::SourceVariant* variant, source_variant(spec, arm.variant()));
  const auto& has = variant->parameters();
  std::map<std::string, std::string> given;
  for (const v1::Setting& setting : arm.parameters()) {
    if (std::ranges::find(has, setting.name()) == has.end()) {
      return source_not_found(
          absl::StrCat("parameters of ", arm.variant()), setting.name(), {has.begin(), has.end()});
    }
    given[setting.name()] = setting.value();
  }
  std::vector<std::pair<std::string, std::string>> texts;
  for (const v1::SourceParameter& parameter : spec.parameters()) {
    if (std::ranges::find(has, parameter.name()) != has.end()) {
      const auto found = given.find(parameter.name());
      texts.emplace_back(parameter.name(),
                         found == given.end() ? parameter.default_value() : found->second);
    }
  }
  return texts;
}

absl::StatusOr<SourceScope> SourceScope::make(const v1::SourceSpec& spec,
                                              const SourceSettings& axes) {
  SourceScope scope;
  for (const v1::SourceAxis& axis : spec.axes()) {
    const auto is_it = [&](const v1::Setting& setting) { return setting.name() == axis.name(); };
    const auto found = std::ranges::find_if(axes, is_it);
    std::int64_t value = 0;
    if (found == axes.end() || !absl::SimpleAtoi(found->value(), &value)) {
      return source_error("axes", absl::StrCat("`", axis.name(), "` needs an integer"));
    }
    scope.add(axis.name(), value);
  }
  return scope;
}

absl::StatusOr<SourceScope> SourceScope::make(const v1::SourceSpec& spec,
                                              const SourceSettings& axes,
                                              const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(SourceScope scope, make(spec, axes));
  ASSAY_ASSIGN_OR_RETURN(const auto texts, source_parameters(spec, arm));
  for (const auto& [name, text] : texts) {
    scope.add(name, source_value(text));
  }
  return scope;
}

absl::StatusOr<Value> SourceScope::evaluate(const std::string& field,
                                            const std::string& text) const {
  ASSAY_ASSIGN_OR_RETURN(const Expression expression, parse_source(field, text, names_));
  return evaluate(field, expression);
}

absl::StatusOr<Value> SourceScope::evaluate(const std::string& field,
                                            const Expression& expression) const {
  absl::StatusOr<Value> value = expression.evaluate(values_);
  return value.ok() ? std::move(value) : with_values(value.status(), field, expression);
}

absl::StatusOr<std::int64_t> SourceScope::integer(const std::string& field,
                                                  const std::string& text,
                                                  std::int64_t min,
                                                  std::int64_t max) const {
  ASSAY_ASSIGN_OR_RETURN(const Expression expression, parse_source(field, text, names_));
  ASSAY_ASSIGN_OR_RETURN(const Value value, evaluate(field, expression));
  const std::optional<std::int64_t> integer = whole_number(value);
  const std::string found = absl::StrCat("`", text, "` is ", value_text(value));
  if (!integer || *integer < min) {
    return with_values(
        absl::InvalidArgumentError(absl::StrCat(found, ", expected an integer of at least ", min)),
        field,
        expression);
  }
  if (*integer > max) {
    return with_values(absl::ResourceExhaustedError(absl::StrCat(found, ", the limit is ", max)),
                       field,
                       expression);
  }
  return *integer;
}

absl::Status SourceScope::require(const std::string& field, const std::string& text) const {
  ASSAY_ASSIGN_OR_RETURN(const Expression expression, parse_source(field, text, names_));
  ASSAY_ASSIGN_OR_RETURN(const Value value, evaluate(field, expression));
  return is_true(value)
             ? absl::OkStatus()
             : with_values(absl::InvalidArgumentError(absl::StrCat("`", text, "` does not hold")),
                           field,
                           expression);
}

absl::Status SourceScope::with_values(const absl::Status& error,
                                      const std::string& field,
                                      const Expression& expression) const {
  const auto append = [&](std::string* out, std::size_t used) {
    absl::StrAppend(out, names_[used], "=", value_text(values_[used]));
  };
  const std::string values =
      expression.used().empty()
          ? ""
          : absl::StrCat(" (", absl::StrJoin(expression.used(), ", ", append), ")");
  return {error.code(), absl::StrCat(field, ": ", std::string(error.message()), values)};
}

void SourceScope::add(const std::string& name, Value value) {
  names_.push_back(name);
  values_.push_back(std::move(value));
}

}  // namespace assay::tuning
