// Expressions of tuning specifications: a subset of Python's, read and evaluated by us. Nothing in
// them can name a file, a module or an attribute, and both time and memory are bounded.
//
// Understood: integers, floats, strings, True, False, names, [lists] and (lists), [x for y in list
// if z], `if else`, and, or, not, chains of comparisons, in, + - * / // % **, list[index], and the
// functions abs, list, max, min, range.
#pragma once

#include "tuning/value.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

enum class Comparison {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kNotIn
};

enum class Function { kAbs, kList, kMax, kMin, kRange };

enum class NodeKind {
  kConstant,
  kName,
  kList,
  kComprehension,  // the list, the item, the condition if there is one
  kIndex,
  kCall,
  kNegate,
  kPlus,
  kNot,
  kAnd,
  kOr,
  kConditional,  // the condition, the value if true, the value if not
  kCompare,      // one comparison between each two children
  kCalculate
};

struct Node {
  NodeKind kind = NodeKind::kConstant;
  std::size_t position = 0;  // in the text, from 1
  std::size_t depth = 1;     // of the tree below
  std::vector<Node> children;
  Value constant;
  std::size_t slot = 0;  // of a name: an argument, or a comprehension's own beyond them
  Arithmetic arithmetic = Arithmetic::kAdd;
  Function function = Function::kAbs;
  std::vector<Comparison> comparisons;
};

class Expression {
 public:
  // `names` are what the text may use, by position the arguments of evaluate(). INVALID_ARGUMENT,
  // "unsupported expression: position 7: ...", for everything else than the subset, for more than
  // 10,000 characters, and for more than 100 levels.
  static absl::StatusOr<Expression> parse(std::string_view text,
                                          const std::vector<std::string>& names);

  // As many arguments as there were names. INVALID_ARGUMENT like parse() for what has no value, for
  // a list of more than 100,000 items, and for more than 1,000,000 steps. Adds what it took to
  // `num_steps` where there is one.
  absl::StatusOr<Value> evaluate(std::span<const Value> arguments,
                                 std::int64_t* num_steps = nullptr) const;

  // The names that it uses, as indices in rising order.
  const std::vector<std::size_t>& used() const { return used_; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  Node root_;
  std::vector<std::size_t> used_;
  std::size_t num_locals_ = 0;
};

}  // namespace assay::tuning
