#include "tuning/expression.h"

#include "proto/status.h"
#include "tuning/parser.h"
#include "tuning/token.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::tuning {
namespace {

constexpr std::size_t kMaxLength = 10'000;
constexpr std::size_t kMaxItems = 100'000;
constexpr std::size_t kMaxSteps = 1'000'000;

absl::Status at(const Node& node, const absl::Status& status) {
  return expression_error(node.position, {status.message().data(), status.message().size()});
}

// One evaluation. Its memory is what the lists hold that it makes, and each item of a list is a
// step.
class Evaluation {
 public:
  Evaluation(std::span<const Value> arguments, std::size_t num_locals)
      : arguments_(arguments), locals_(num_locals) {}

  absl::StatusOr<Value> value_of(const Node& node) {
    ASSAY_RETURN_IF_ERROR(step(node, 1));
    switch (node.kind) {
      case NodeKind::kConstant:
        return node.constant;
      case NodeKind::kName:
        return node.slot < arguments_.size() ? arguments_[node.slot]
                                             : locals_[node.slot - arguments_.size()];
      case NodeKind::kList:
        return list(node);
      case NodeKind::kComprehension:
        return comprehension(node);
      case NodeKind::kIndex:
        return item(node);
      case NodeKind::kCall:
        return call(node);
      case NodeKind::kNegate:
      case NodeKind::kPlus:
        return with_sign(node);
      case NodeKind::kNot: {
        ASSAY_ASSIGN_OR_RETURN(const Value operand, value_of(node.children[0]));
        return !is_true(operand);
      }
      case NodeKind::kAnd:
      case NodeKind::kOr:
        return first_decisive(node);
      case NodeKind::kConditional: {
        ASSAY_ASSIGN_OR_RETURN(const Value condition, value_of(node.children[0]));
        return value_of(node.children[is_true(condition) ? 1 : 2]);
      }
      case NodeKind::kCompare:
        return chain(node);
      case NodeKind::kCalculate:
        return calculation(node);
    }
    return expression_error(node.position, "a node of no kind");
  }

  std::size_t num_steps() const { return num_steps_; }

 private:
  absl::Status step(const Node& node, std::size_t num) {
    num_steps_ += num;
    if (num_steps_ > kMaxSteps) {
      return expression_error(node.position, "more than 1,000,000 steps to evaluate");
    }
    return absl::OkStatus();
  }

  absl::Status add(const Node& node, std::vector<Value>& items, Value item) {
    ASSAY_RETURN_IF_ERROR(step(node, 1));
    if (items.size() == kMaxItems) {
      return expression_error(node.position, "a list of more than 100,000 items");
    }
    if (items_of(item) != nullptr) {
      return expression_error(node.position, "lists inside lists are not supported");
    }
    items.push_back(std::move(item));
    return absl::OkStatus();
  }

  static Value list_of(std::vector<Value> items) {
    return std::make_shared<const List>(List{std::move(items)});
  }

  absl::StatusOr<Value> list(const Node& node) {
    std::vector<Value> items;
    for (const Node& child : node.children) {
      ASSAY_ASSIGN_OR_RETURN(Value item, value_of(child));
      ASSAY_RETURN_IF_ERROR(add(child, items, std::move(item)));
    }
    return list_of(std::move(items));
  }

  absl::StatusOr<Value> comprehension(const Node& node) {
    ASSAY_ASSIGN_OR_RETURN(const Value source, value_of(node.children[0]));
    const std::vector<Value>* from = items_of(source);
    if (from == nullptr) {
      return expression_error(node.children[0].position, "`for` needs a list or a range");
    }
    Value& local = locals_[node.slot - arguments_.size()];
    std::vector<Value> items;
    for (const Value& value : *from) {
      local = value;
      if (node.children.size() > 2) {
        ASSAY_ASSIGN_OR_RETURN(const Value condition, value_of(node.children[2]));
        if (!is_true(condition)) {
          continue;
        }
      }
      ASSAY_ASSIGN_OR_RETURN(Value item, value_of(node.children[1]));
      ASSAY_RETURN_IF_ERROR(add(node, items, std::move(item)));
    }
    return list_of(std::move(items));
  }

  // A negative index counts from the end.
  absl::StatusOr<Value> item(const Node& node) {
    ASSAY_ASSIGN_OR_RETURN(const Value value, value_of(node.children[0]));
    ASSAY_ASSIGN_OR_RETURN(const Value index_value, value_of(node.children[1]));
    const std::vector<Value>* items = items_of(value);
    std::optional<std::int64_t> index = integer_of(index_value);
    if (items == nullptr || !index) {
      return expression_error(node.position, "brackets are for an integer after a list");
    }
    const auto size = static_cast<std::int64_t>(items->size());
    if (*index < -size || *index >= size) {
      return expression_error(node.position,
                              absl::StrCat("index ", *index, " of a list of ", size));
    }
    return (*items)[static_cast<std::size_t>(*index < 0 ? *index + size : *index)];
  }

  absl::StatusOr<Value> with_sign(const Node& node) {
    ASSAY_ASSIGN_OR_RETURN(const Value operand, value_of(node.children[0]));
    const Arithmetic arithmetic =
        node.kind == NodeKind::kNegate ? Arithmetic::kSubtract : Arithmetic::kAdd;
    const absl::StatusOr<Value> result = calculate(arithmetic, std::int64_t{0}, operand);
    return result.ok() ? result : at(node, result.status());
  }

  // `and` and `or` give the operand that decided, as in Python.
  absl::StatusOr<Value> first_decisive(const Node& node) {
    const bool decisive = node.kind == NodeKind::kOr;
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Value operand, value_of(node.children[i]));
      if (is_true(operand) == decisive) {
        return operand;
      }
    }
    return value_of(node.children.back());
  }

  // a < b < c is a < b and b < c, where b is evaluated once.
  absl::StatusOr<Value> chain(const Node& node) {
    ASSAY_ASSIGN_OR_RETURN(Value left, value_of(node.children[0]));
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Value right, value_of(node.children[i + 1]));
      ASSAY_ASSIGN_OR_RETURN(const bool holds, compare(node, node.comparisons[i], left, right));
      if (!holds) {
        return false;
      }
      left = std::move(right);
    }
    return true;
  }

  absl::StatusOr<bool> compare(const Node& node,
                               Comparison comparison,
                               const Value& left,
                               const Value& right) {
    const std::vector<Value>* items = items_of(right);
    ASSAY_RETURN_IF_ERROR(step(node, items == nullptr ? 0 : items->size()));
    switch (comparison) {
      case Comparison::kEqual:
        return equal(left, right);
      case Comparison::kNotEqual:
        return !equal(left, right);
      case Comparison::kIn:
      case Comparison::kNotIn: {
        if (items == nullptr) {
          return expression_error(node.position, "`in` needs a list on its right");
        }
        const bool is_in =
            std::ranges::any_of(*items, [&](const Value& value) { return equal(value, left); });
        return is_in == (comparison == Comparison::kIn);
      }
      default:
        break;
    }
    const absl::StatusOr<int> difference = order(left, right);
    if (!difference.ok()) {
      return at(node, difference.status());
    }
    switch (comparison) {
      case Comparison::kLess:
        return *difference < 0;
      case Comparison::kLessOrEqual:
        return *difference <= 0;
      case Comparison::kGreater:
        return *difference > 0;
      default:
        return *difference >= 0;
    }
  }

  absl::StatusOr<Value> calculation(const Node& node) {
    ASSAY_ASSIGN_OR_RETURN(const Value left, value_of(node.children[0]));
    ASSAY_ASSIGN_OR_RETURN(const Value right, value_of(node.children[1]));
    if (node.arithmetic == Arithmetic::kAdd && items_of(left) != nullptr &&
        items_of(right) != nullptr) {
      std::vector<Value> items;
      for (const std::vector<Value>* part : {items_of(left), items_of(right)}) {
        for (const Value& value : *part) {
          ASSAY_RETURN_IF_ERROR(add(node, items, value));
        }
      }
      return list_of(std::move(items));
    }
    const absl::StatusOr<Value> result = calculate(node.arithmetic, left, right);
    return result.ok() ? result : at(node, result.status());
  }

  absl::StatusOr<Value> call(const Node& node) {
    std::vector<Value> arguments;
    for (const Node& child : node.children) {
      ASSAY_ASSIGN_OR_RETURN(Value argument, value_of(child));
      arguments.push_back(std::move(argument));
    }
    switch (node.function) {
      case Function::kAbs:
        return absolute(node, arguments);
      case Function::kList:
        if (arguments.size() != 1 || items_of(arguments[0]) == nullptr) {
          return expression_error(node.position, "list() takes one list or range");
        }
        return arguments[0];
      case Function::kRange:
        return range(node, arguments);
      default:
        return extreme(node, arguments);
    }
  }

  static absl::StatusOr<Value> absolute(const Node& node, const std::vector<Value>& arguments) {
    const Value zero = std::int64_t{0};
    if (arguments.size() != 1 || !order(arguments[0], zero).ok()) {
      return expression_error(node.position, "abs() takes one number");
    }
    const Arithmetic arithmetic =
        *order(arguments[0], zero) < 0 ? Arithmetic::kSubtract : Arithmetic::kAdd;
    const absl::StatusOr<Value> result = calculate(arithmetic, zero, arguments[0]);
    return result.ok() ? result : at(node, result.status());
  }

  // The first of equals, as in Python.
  absl::StatusOr<Value> extreme(const Node& node, const std::vector<Value>& arguments) {
    const std::vector<Value>* values = &arguments;
    if (arguments.size() == 1) {
      values = items_of(arguments[0]);
    }
    if (values == nullptr || values->empty()) {
      return expression_error(node.position, "min() and max() take a list, or two values or more");
    }
    ASSAY_RETURN_IF_ERROR(step(node, values->size()));
    const int wanted = node.function == Function::kMax ? 1 : -1;
    const Value* best = &values->front();
    for (const Value& value : *values) {
      const absl::StatusOr<int> difference = order(value, *best);
      if (!difference.ok()) {
        return at(node, difference.status());
      }
      best = *difference == wanted ? &value : best;
    }
    return *best;
  }

  absl::StatusOr<Value> range(const Node& node, const std::vector<Value>& arguments) {
    std::int64_t bounds[3] = {0, 0, 1};
    bool is_valid = !arguments.empty() && arguments.size() <= 3;
    for (std::size_t i = 0; is_valid && i < arguments.size(); ++i) {
      const std::optional<std::int64_t> bound = integer_of(arguments[i]);
      is_valid = bound.has_value();
      bounds[arguments.size() == 1 ? 1 : i] = bound.value_or(0);
    }
    const auto [first, end, increment] = bounds;
    if (!is_valid || increment == 0) {
      return expression_error(node.position,
                              "range() takes one to three integers, and no step of 0");
    }
    std::vector<Value> items;
    std::int64_t value = first;
    while (increment > 0 ? value < end : value > end) {
      ASSAY_RETURN_IF_ERROR(add(node, items, value));
      if (__builtin_add_overflow(value, increment, &value)) {
        break;
      }
    }
    return list_of(std::move(items));
  }

  std::span<const Value> arguments_;
  std::vector<Value> locals_;
  std::size_t num_steps_ = 0;
};

}  // namespace

absl::StatusOr<Expression> Expression::parse(std::string_view text,
                                             const std::vector<std::string>& names) {
  if (text.size() > kMaxLength) {
    return expression_error(kMaxLength + 1, "more than 10,000 characters");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Token> tokens, tokens_of(text));
  ExpressionParser parser(tokens, names);
  Expression expression;
  ASSAY_ASSIGN_OR_RETURN(expression.root_, parser.parse());
  expression.text_ = std::string(text);
  expression.used_.assign(parser.used().begin(), parser.used().end());
  expression.num_locals_ = parser.max_locals();
  return expression;
}

absl::StatusOr<Value> Expression::evaluate(std::span<const Value> arguments,
                                           std::int64_t* num_steps) const {
  Evaluation evaluation(arguments, num_locals_);
  absl::StatusOr<Value> value = evaluation.value_of(root_);
  if (num_steps != nullptr) {
    *num_steps += static_cast<std::int64_t>(evaluation.num_steps());
  }
  return value;
}

}  // namespace assay::tuning
