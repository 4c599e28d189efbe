#include "tuning/expression.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::tuning {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

// With a = 12, b = -5, x = 2.5, s = 'row', list = [1, 2, 4].
std::string result_of(const std::string& text) {
  const std::vector<Value> arguments = {
      std::int64_t{12},
      std::int64_t{-5},
      2.5,
      std::string("row"),
      std::make_shared<const List>(List{{std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}})};
  const absl::StatusOr<Expression> expression =
      Expression::parse(text, {"a", "b", "x", "s", "sizes"});
  if (!expression.ok()) {
    EXPECT_EQ(expression.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(expression.status().message());
  }
  const absl::StatusOr<Value> value = expression->evaluate(arguments);
  return value.ok() ? value_text(*value) : std::string(value.status().message());
}

void expect_results(const Cases& cases) {
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(result_of(text), expected) << text;
  }
}

void expect_errors(const Cases& cases) {
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(result_of(text), "unsupported expression: position " + expected) << text;
  }
}

std::string repeated(const std::string& text, int num) {
  std::string result;
  for (int i = 0; i < num; ++i) {
    result += text;
  }
  return result;
}

TEST(Expression, RefusesWhatCouldReachBeyondIt) {
  expect_errors({
      {"__import__('os').system('id')",
       "1: unknown function `__import__`; expected abs, list, "
       "max, min or range"},
      {"[1, 2].append(3)", "7: unexpected `.`; attributes are not supported"},
      {"a.real", "2: unexpected `.`; attributes are not supported"},
      {"[].__class__", "3: unexpected `.`; attributes are not supported"},
      {"lambda: 1", "7: `:` is not supported"},
      {"(lambda)", "2: unexpected `lambda`; expected a value"},
      {"a := 1", "3: `:` is not supported"},
      {"a = 1", "3: `=` is not supported; write `==`"},
      {"{1: 2}", "1: `{` is not supported"},
      {"f'{a}'", "1: unknown name `f`"},
      {"'\\x41'", "1: a backslash in a string is not supported"},
      {"(max)(1, 2)", "2: unknown name `max`"},
      {"a(1)", "1: unknown function `a`; expected abs, list, max, min or range"},
      {"a[0](1)", "5: unexpected `(`; expected an operator"},
      {"a > 1 && b", "7: unexpected `&&`; write `and`"},
      {"a || b", "3: unexpected `||`; write `or`"},
      {"!a", "1: unexpected `!`; write `not`"},
      {"a & b", "3: `&` is not supported"},
      {"\xc3\xa9", "1: `a character beyond ASCII` is not supported"},
  });
}

TEST(Expression, SaysWhereItCannotBeRead) {
  expect_errors({
      {"", "1: it ends where a value is expected"},
      {"a +", "4: it ends where a value is expected"},
      {"(a", "3: it ends where `)` is expected"},
      {"[1 2]", "4: unexpected `2`; expected `,` or `]`"},
      {"[,]", "2: unexpected `,`; expected a value"},
      {"a b", "3: unexpected `b`; expected the end"},
      {"c + 1", "1: unknown name `c`"},
      {"1 if a", "7: it ends where `else` is expected"},
      {"'row", "1: the string has no end"},
      {"012", "1: an integer starts with 0"},
      {"1j", "2: a number ends in a letter"},
      {"0x10", "2: a number ends in a letter"},
      {"1e999", "1: not a finite number"},
      {"9223372036854775808", "1: the integer does not fit into 64 bits"},
      {"[i for 1 in sizes]", "8: expected a name after `for`"},
      {"[i for i of sizes]", "10: unexpected `of`; expected `in`"},
      {"[j for i in sizes]", "2: unknown name `j`"},
      {"[i for i in i]", "13: unknown name `i`"},
      {"list(i for i in sizes)", "6: unknown name `i`"},
      {"(i for i in sizes)", "2: unknown name `i`"},
  });
}

TEST(Expression, IsBoundedInLengthDepthAndWork) {
  const Cases cases = {
      {repeated("1+", 5000) + "1", "position 10001: more than 10,000 characters"},
      {repeated("(", 101) + "1" + repeated(")", 101), "more than 100 levels"},
      {repeated("[", 4000), "more than 100 levels"},
      {repeated("not ", 2000) + "a", "more than 100 levels"},
      {repeated("-", 9000) + "1", "more than 100 levels"},
      {repeated("2**", 3000) + "1", "more than 100 levels"},
      {repeated("1+", 200) + "1", "more than 100 levels"},
      {repeated("1 if 0 else ", 200) + "1", "more than 100 levels"},
      {"range(10**12)", "a list of more than 100,000 items"},
      {"[i for i in range(10**12)]", "a list of more than 100,000 items"},
      {"list(range(60000)) + list(range(60000))", "a list of more than 100,000 items"},
      {"[max(range(1000)) for i in range(1000)]", "more than 1,000,000 steps"},
      {"[i for i in range(100000) if i in range(90000)]", "more than 1,000,000 steps"},
      {"[[1, 2] for i in range(3)]", "lists inside lists are not supported"},
      {"10**10**10", "position 3: the result does not fit into 64 bits"},
      {"2**63", "position 2: the result does not fit into 64 bits"},
      {"9223372036854775807 + 1", "position 21: the result does not fit into 64 bits"},
      {"-9223372036854775807 - 2", "position 22: the result does not fit into 64 bits"},
      {"4611686018427387904 * 2", "position 21: the result does not fit into 64 bits"},
      {"(-9223372036854775807 - 1) // -1", "position 28: the result does not fit into 64 bits"},
      {"-(-9223372036854775807 - 1)", "position 1: the result does not fit into 64 bits"},
      {"abs(-9223372036854775807 - 1)", "position 1: the result does not fit into 64 bits"},
      {"1e308 * 10", "position 7: the result is not finite"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(result_of(text).find(expected), std::string::npos)
        << text.substr(0, 60) << ": " << result_of(text);
  }
}

TEST(Expression, SaysWhatHasNoValue) {
  expect_errors({
      {"a // 0", "3: division by zero"},
      {"a % (b + 5)", "3: division by zero"},
      {"x / 0.0", "3: division by zero"},
      {"0 ** -1", "3: division by zero"},
      {"b ** 0.5", "3: the result would be a complex number"},
      {"a + s", "3: arithmetic is for numbers, and `+` for two lists"},
      {"s + s", "3: arithmetic is for numbers, and `+` for two lists"},
      {"sizes * 2", "7: arithmetic is for numbers, and `+` for two lists"},
      {"a < s", "3: only numbers with numbers and strings with strings have an order"},
      {"a in 3", "3: `in` needs a list on its right"},
      {"sizes[3]", "6: index 3 of a list of 3"},
      {"a[0]", "2: brackets are for an integer after a list"},
      {"max(a)", "1: min() and max() take a list, or two values or more"},
      {"min([])", "1: min() and max() take a list, or two values or more"},
      {"range(1, 2, 0)", "1: range() takes one to three integers, and no step of 0"},
      {"range(x)", "1: range() takes one to three integers, and no step of 0"},
      {"list(3)", "1: list() takes one list or range"},
      {"abs(s)", "1: abs() takes one number"},
      {"[i for i in a]", "13: `for` needs a list or a range"},
  });
}

TEST(Expression, CalculatesAsPythonDoes) {
  expect_results({
      {"7 // 2", "3"},
      {"-7 // 2", "-4"},
      {"7 // -2", "-4"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"-7.5 // 2", "-4.0"},
      {"-7.5 % 2", "0.5"},
      {"7 / 2", "3.5"},
      {"6 / 2", "3.0"},
      {"2 ** 10", "1024"},
      {"2 ** -1", "0.5"},
      {"2 ** 3 ** 2", "512"},
      {"-2 ** 2", "-4"},
      {"2 ** -1 * 4", "2.0"},
      {"1 + 2 * 3 - 4", "3"},
      {"(1 + 2) * 3", "9"},
      {"100 // 7 // 2", "7"},
      {"True + True", "2"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"1e3", "1000.0"},
      {".5", "0.5"},
      {"1e22 * 1", "1e+22"},
      {"0.0", "0.0"},
      {"2.5e-7 + 0", "2.5e-07"},
      {"0.001", "0.001"},
      {"5e-324", "5e-324"},
      {"1234567.25", "1234567.25"},
      {"(-9223372036854775807 - 1) % -1", "0"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"a * b + x", "-57.5"},
      {"max(a, b)", "12"},
      {"min(sizes)", "1"},
      {"max(1, 2.5, 2)", "2.5"},
      {"abs(b)", "5"},
      {"sizes[0] + sizes[-1]", "5"},
      {"(256 // a) // 2", "10"},
  });
}

TEST(Expression, ComparesAndDecidesAsPythonDoes) {
  expect_results({
      {"32 <= a * 2 <= 1024", "False"},
      {"10 <= a <= 12 < 13", "True"},
      // The first comparison alone would be 1, and 1 <= 3.
      {"5 <= 10 <= 3", "False"},
      {"a == 12.0", "True"},
      {"9223372036854775807 == 9223372036854775807.0", "False"},
      {"9007199254740993 > 9007199254740992.0", "True"},
      {"True == 1", "True"},
      {"s == 'row'", "True"},
      {"s != \"column\"", "True"},
      {"s == 1", "False"},
      {"s < 'rows'", "True"},
      {"a in [1, 12]", "True"},
      {"a not in (1, 12)", "False"},
      {"not a in sizes", "True"},
      {"s in ['row', 'column']", "True"},
      {"[1, 2] == [1, 2.0]", "True"},
      {"a or b", "12"},
      {"0 or b", "-5"},
      {"a and 0.0", "0.0"},
      {"1 == 1 and 0 == 1 or 1 == 1", "True"},
      {"1 == 1 or 1 == 1 and 0 == 1", "True"},
      {"not 1 == 2", "True"},
      {"not not a", "True"},
      // The right operand is not evaluated where the left one decides.
      {"a == 0 and a % 0 == 0", "False"},
      {"a or a % 0", "12"},
      {"1 if a > 20 else 2 if a > 10 else 3", "2"},
  });
}

TEST(Expression, MakesListsAsPythonDoes) {
  expect_results({
      {"[1, 2, 4]", "[1, 2, 4]"},
      {"[1, 2,]", "[1, 2]"},
      {"[]", "[]"},
      {"(1, 2)", "[1, 2]"},
      {"(1,)", "[1]"},
      {"(1)", "1"},
      {"['a', \"b\", True, 1.5]", "['a', 'b', True, 1.5]"},
      {"range(3)", "[0, 1, 2]"},
      {"list(range(1, 4))", "[1, 2, 3]"},
      {"range(6, 0, -2)", "[6, 4, 2]"},
      {"range(3, 1)", "[]"},
      {"[1, 2] + list(range(32, 96 + 1, 32))", "[1, 2, 32, 64, 96]"},
      {"[2**i for i in range(0, 6)]", "[1, 2, 4, 8, 16, 32]"},
      {"[i for i in range(10) if i % 3 == 0]", "[0, 3, 6, 9]"},
      // The name of the comprehension hides the argument, and only inside.
      {"[a for a in sizes] + [a]", "[1, 2, 4, 12]"},
      {"[max([i * j for j in sizes]) for i in sizes]", "[4, 8, 16]"},
      {"[i for i in [i + 1 for i in sizes]]", "[2, 3, 5]"},
  });
}

TEST(Expression, KnowsTheNamesThatItUses) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(Expression::parse("c + a * c", names)->used(), (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(Expression::parse("[b for b in range(3)]", names)->used().empty());
}

}  // namespace
}  // namespace assay::tuning
