#include "client/t1_json.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace assay::client::t1 {

using Json = nlohmann::json;
using tuning::Expression;
using tuning::Value;

namespace {

constexpr std::size_t kMaxEntries = 1'000;

}  // namespace

absl::Status error(const std::string& field, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

std::string member(const std::string& field, std::string_view name) {
  return absl::StrCat(field, ".", std::string(name));
}

std::string element(const std::string& field, std::size_t index) {
  return absl::StrCat(field, "[", index, "]");
}

absl::Status check_list(const Json& list, const std::string& field) {
  if (!list.is_array()) {
    return error(field, "expected a list");
  }
  return list.size() <= kMaxEntries ? absl::OkStatus() : error(field, "more than 1,000 entries");
}

const Json* find(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

absl::Status only_members(const Json& object,
                          const std::string& field,
                          std::initializer_list<const char*> known) {
  if (!object.is_object()) {
    return error(field, "expected an object");
  }
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      return error(member(field, name),
                   absl::StrCat("unknown field; expected ", absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> text_member(const Json& object,
                                        const std::string& field,
                                        std::string_view name) {
  const Json* value = find(object, name);
  if (value == nullptr || !value->is_string()) {
    return error(member(field, name), "expected a string");
  }
  return value->get<std::string>();
}

absl::StatusOr<Expression> parse_expression(const std::string& text,
                                            const std::string& field,
                                            const std::vector<std::string>& names) {
  absl::StatusOr<Expression> expression = Expression::parse(text, names);
  return expression.ok() ? std::move(expression) : proto::annotate(expression.status(), field);
}

absl::StatusOr<Value> evaluate(const std::string& text,
                               const std::string& field,
                               const std::vector<std::string>& names,
                               const std::vector<Value>& arguments) {
  ASSAY_ASSIGN_OR_RETURN(const Expression expression, parse_expression(text, field, names));
  absl::StatusOr<Value> value = expression.evaluate(arguments);
  return value.ok() ? std::move(value) : proto::annotate(value.status(), field);
}

std::optional<Value> value_of(const Json& json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  if (json.is_number_integer()) {
    return json.get<std::int64_t>();
  }
  if (json.is_number_float()) {
    return json.get<double>();
  }
  if (json.is_string()) {
    return json.get<std::string>();
  }
  return std::nullopt;
}

}  // namespace assay::client::t1
