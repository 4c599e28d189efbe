// How T1 files are read, member by member; errors name the field by its path.
#pragma once

#include "client/strict_json.h"
#include "tuning/expression.h"
#include "tuning/value.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client::t1 {

inline constexpr std::string_view kProblemSize = "ProblemSize";

absl::Status error(const std::string& field, const std::string& what);
std::string member(const std::string& field, std::string_view name);
std::string element(const std::string& field, std::size_t index);

// A list of at most 1,000 entries.
absl::Status check_list(const nlohmann::json& list, const std::string& field);

// The member, or null where there is none or JSON's null.
const nlohmann::json* find(const nlohmann::json& object, std::string_view name);

// Refuses other members than the known ones, which it lists.
absl::Status only_members(const nlohmann::json& object,
                          const std::string& field,
                          std::initializer_list<const char*> known);

absl::StatusOr<std::string> text_member(const nlohmann::json& object,
                                        const std::string& field,
                                        std::string_view name);

absl::StatusOr<tuning::Expression> parse_expression(const std::string& text,
                                                    const std::string& field,
                                                    const std::vector<std::string>& names);

absl::StatusOr<tuning::Value> evaluate(const std::string& text,
                                       const std::string& field,
                                       const std::vector<std::string>& names,
                                       const std::vector<tuning::Value>& arguments);

// A scalar of JSON; none for null, lists, objects and integers beyond 64 bits.
std::optional<tuning::Value> value_of(const nlohmann::json& json);

}  // namespace assay::client::t1
