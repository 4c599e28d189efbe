#include "tuning/value.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace assay::tuning {
namespace {

constexpr std::string_view kTooLarge = "the result does not fit into 64 bits";
constexpr std::string_view kDivisionByZero = "division by zero";

absl::Status error(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

std::optional<double> number_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  const std::optional<std::int64_t> integer = integer_of(value);
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

// Exact for 64-bit integers, whose digits a double may lose.
long double exact_number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  return static_cast<long double>(*integer_of(value));
}

int sign_of_difference(const auto& left, const auto& right) {
  return static_cast<int>(left > right) - static_cast<int>(left < right);
}

absl::StatusOr<Value> finite(double value) {
  if (!std::isfinite(value)) {
    return error("the result is not finite");
  }
  return value;
}

absl::StatusOr<Value> integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    return base == 0 ? absl::StatusOr<Value>(error(kDivisionByZero))
                     : finite(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t result = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
      return error(kTooLarge);
    }
    exponent >>= 1;
    if (exponent == 0) {
      return result;
    }
    if (__builtin_mul_overflow(base, base, &base)) {
      return error(kTooLarge);
    }
  }
}

// The smallest integer over -1 is the one quotient that does not fit.
absl::StatusOr<Value> integer_quotient(Arithmetic operation,
                                       std::int64_t left,
                                       std::int64_t right) {
  if (right == 0) {
    return error(kDivisionByZero);
  }
  if (operation == Arithmetic::kDivide) {
    return finite(static_cast<double>(left) / static_cast<double>(right));
  }
  if (right == -1) {
    std::int64_t negated = 0;
    if (operation == Arithmetic::kModulo) {
      return std::int64_t{0};
    }
    return __builtin_sub_overflow(std::int64_t{0}, left, &negated)
               ? absl::StatusOr<Value>(error(kTooLarge))
               : Value(negated);
  }
  const std::int64_t remainder = left % right;
  const bool rounds_down = remainder != 0 && (remainder < 0) != (right < 0);
  if (operation == Arithmetic::kModulo) {
    return rounds_down ? remainder + right : remainder;
  }
  return left / right - (rounds_down ? 1 : 0);
}

absl::StatusOr<Value> integer_result(Arithmetic operation, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (operation) {
    case Arithmetic::kAdd:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case Arithmetic::kSubtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case Arithmetic::kMultiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    case Arithmetic::kPower:
      return integer_power(left, right);
    default:
      return integer_quotient(operation, left, right);
  }
  if (overflows) {
    return error(kTooLarge);
  }
  return result;
}

absl::StatusOr<Value> real_power(double base, double exponent) {
  if (base == 0 && exponent < 0) {
    return error(kDivisionByZero);
  }
  if (base < 0 && exponent != std::floor(exponent)) {
    return error("the result would be a complex number");
  }
  return finite(std::pow(base, exponent));
}

// The remainder has the divisor's sign, and the quotient is taken from it: CPython's float_divmod.
absl::StatusOr<Value> real_quotient(Arithmetic operation, double left, double right) {
  if (right == 0) {
    return error(kDivisionByZero);
  }
  if (operation == Arithmetic::kDivide) {
    return finite(left / right);
  }
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder == 0) {
    remainder = std::copysign(0.0, right);
  } else if ((remainder < 0) != (right < 0)) {
    remainder += right;
    quotient -= 1;
  }
  if (operation == Arithmetic::kModulo) {
    return finite(remainder);
  }
  const double below = std::floor(quotient);
  return finite(quotient - below > 0.5 ? below + 1 : below);
}

absl::StatusOr<Value> real_result(Arithmetic operation, double left, double right) {
  switch (operation) {
    case Arithmetic::kAdd:
      return finite(left + right);
    case Arithmetic::kSubtract:
      return finite(left - right);
    case Arithmetic::kMultiply:
      return finite(left * right);
    case Arithmetic::kPower:
      return real_power(left, right);
    default:
      return real_quotient(operation, left, right);
  }
}

// The shortest text that reads back as the same number, in Python's choice of form.
std::string real_text(double value) {
  std::string text;
  int num_digits = 0;
  do {
    text = absl::StrFormat("%.*e", num_digits++, value);
  } while (num_digits < 17 && std::strtod(text.c_str(), nullptr) != value);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  return exponent < -4 || exponent >= 16
             ? text
             : absl::StrFormat("%.*f", std::max(1, num_digits - 1 - exponent), value);
}

}  // namespace

const std::vector<Value>* items_of(const Value& value) {
  const auto* list = std::get_if<std::shared_ptr<const List>>(&value);
  return list == nullptr ? nullptr : &(*list)->values;
}

std::optional<std::int64_t> integer_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return *integer;
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? 1 : 0;
  }
  return std::nullopt;
}

bool is_true(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag;
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return !text->empty();
  }
  if (const std::vector<Value>* items = items_of(value)) {
    return !items->empty();
  }
  return exact_number(value) != 0;
}

bool equal(const Value& left, const Value& right) {
  const std::vector<Value>* left_items = items_of(left);
  const std::vector<Value>* right_items = items_of(right);
  if (left_items != nullptr && right_items != nullptr) {
    return std::ranges::equal(*left_items, *right_items, equal);
  }
  const absl::StatusOr<int> difference = order(left, right);
  return difference.ok() && *difference == 0;
}

std::string equality_key(const Value& value) {
  constexpr double kBeyondIntegers = 9'223'372'036'854'775'808.0;
  if (const std::optional<std::int64_t> integer = integer_of(value)) {
    return absl::StrCat(*integer);
  }
  const auto* real = std::get_if<double>(&value);
  if (real != nullptr && std::abs(*real) < kBeyondIntegers && std::floor(*real) == *real) {
    return absl::StrCat(static_cast<std::int64_t>(*real));
  }
  return value_text(value);
}

absl::StatusOr<int> order(const Value& left, const Value& right) {
  if (number_of(left) && number_of(right)) {
    return sign_of_difference(exact_number(left), exact_number(right));
  }
  const auto* left_text = std::get_if<std::string>(&left);
  const auto* right_text = std::get_if<std::string>(&right);
  if (left_text == nullptr || right_text == nullptr) {
    return error("only numbers with numbers and strings with strings have an order");
  }
  return sign_of_difference(*left_text, *right_text);
}

std::string value_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "True" : "False";
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return absl::StrCat(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return real_text(*real);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return absl::StrCat("'", *text, "'");
  }
  const auto append = [](std::string* out, const Value& item) { *out += value_text(item); };
  return absl::StrCat("[", absl::StrJoin(*items_of(value), ", ", append), "]");
}

absl::StatusOr<Value> calculate(Arithmetic operation, const Value& left, const Value& right) {
  const std::optional<std::int64_t> left_integer = integer_of(left);
  const std::optional<std::int64_t> right_integer = integer_of(right);
  if (left_integer && right_integer) {
    return integer_result(operation, *left_integer, *right_integer);
  }
  const std::optional<double> left_number = number_of(left);
  const std::optional<double> right_number = number_of(right);
  if (!left_number || !right_number) {
    return error("arithmetic is for numbers, and `+` for two lists");
  }
  return real_result(operation, *left_number, *right_number);
}

}  // namespace assay::tuning
