// Values of expressions and what may be done with them, by Python's rules: bool counts as an
// integer, `/` gives a float, `//` and `%` round towards minus infinity. Stricter than Python:
// integers have 64 bits, and a result beyond them, or one that is not finite, is an error.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay::tuning {

struct List;
using Value = std::variant<bool, std::int64_t, double, std::string, std::shared_ptr<const List>>;

// Holds no lists, so that sharing cannot make a small text mean a huge value.
struct List {
  std::vector<Value> values;
};

// The items where `value` is a list, else null.
const std::vector<Value>* items_of(const Value& value);

// An integer or a bool.
std::optional<std::int64_t> integer_of(const Value& value);

// What Python's `if` makes of it.
bool is_true(const Value& value);

// Values of different kinds are unequal; 1, 1.0 and True are equal.
bool equal(const Value& left, const Value& right);

// The same text for two scalars only if they are equal.
std::string equality_key(const Value& value);

// Negative, 0 or positive. INVALID_ARGUMENT unless both are numbers or both are strings.
absl::StatusOr<int> order(const Value& left, const Value& right);

// As Python writes it: True, 3, 2.5, 'a', [1, 2].
std::string value_text(const Value& value);

enum class Arithmetic { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };

// INVALID_ARGUMENT says what is wrong without naming a place. Lists and strings are refused.
absl::StatusOr<Value> calculate(Arithmetic operation, const Value& left, const Value& right);

}  // namespace assay::tuning
