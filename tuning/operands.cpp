#include "proto/status.h"
#include "tuning/parser.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::tuning {
namespace {

constexpr std::array<std::pair<std::string_view, Function>, 5> kFunctions = {{
    {"abs", Function::kAbs},
    {"list", Function::kList},
    {"max", Function::kMax},
    {"min", Function::kMin},
    {"range", Function::kRange},
}};

}  // namespace

absl::StatusOr<Node> ExpressionParser::primary() {
  const Token token = current();
  if (token.kind == TokenKind::kNumber) {
    ASSAY_ASSIGN_OR_RETURN(Value number, number_of(token));
    return constant(std::move(number));
  }
  if (token.kind == TokenKind::kString) {
    return constant(std::string(token.text));
  }
  if (token.kind == TokenKind::kWord) {
    return word(token);
  }
  if (take_symbol("(")) {
    return parenthesis(token.position);
  }
  if (take_symbol("[")) {
    return is_comprehension() ? comprehension(token.position) : list(token.position, "]");
  }
  return unexpected("a value");
}

Node ExpressionParser::constant(Value value) {
  Node node;
  node.position = current().position;
  node.constant = std::move(value);
  ++at_;
  return node;
}

absl::StatusOr<Node> ExpressionParser::word(const Token& token) {
  if (token.text == "True" || token.text == "False") {
    return constant(token.text == "True");
  }
  if (is_expression_word(token.text)) {
    return unexpected("a value");
  }
  ++at_;
  if (is_next(TokenKind::kSymbol, "(")) {
    return call(token);
  }
  Node node;
  node.kind = NodeKind::kName;
  node.position = token.position;
  const std::optional<std::size_t> slot = slot_of(token.text);
  if (!slot) {
    return expression_error(token.position,
                            absl::StrCat("unknown name `", std::string(token.text), "`"));
  }
  node.slot = *slot;
  return node;
}

// The innermost comprehension's name comes first.
std::optional<std::size_t> ExpressionParser::slot_of(std::string_view name) {
  for (std::size_t i = locals_.size(); i > 0; --i) {
    if (locals_[i - 1] == name) {
      return names_.size() + i - 1;
    }
  }
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) {
    return std::nullopt;
  }
  const auto slot = static_cast<std::size_t>(found - names_.begin());
  used_.insert(slot);
  return slot;
}

absl::StatusOr<Node> ExpressionParser::call(const Token& token) {
  const auto* function =
      std::ranges::find(kFunctions, token.text, [](const auto& row) { return row.first; });
  if (function == kFunctions.end()) {
    return expression_error(token.position,
                            absl::StrCat("unknown function `",
                                         std::string(token.text),
                                         "`; expected abs, list, max, min or range"));
  }
  ++at_;
  ASSAY_ASSIGN_OR_RETURN(Node node, list(token.position, ")"));
  node.kind = NodeKind::kCall;
  node.function = function->second;
  return node;
}

// Values between commas up to `end`; a comma may stand before it.
absl::StatusOr<Node> ExpressionParser::list(std::size_t position, std::string_view end) {
  std::vector<Node> items;
  while (!take_symbol(end)) {
    if (!items.empty()) {
      ASSAY_RETURN_IF_ERROR(expect(","));
      if (take_symbol(end)) {
        break;
      }
    }
    ASSAY_ASSIGN_OR_RETURN(Node item, conditional());
    items.push_back(std::move(item));
    if (!is_next(TokenKind::kSymbol, ",") && !is_next(TokenKind::kSymbol, end)) {
      return unexpected(absl::StrCat("`,` or `", std::string(end), "`"));
    }
  }
  return make(NodeKind::kList, position, std::move(items));
}

// Without a comma only a pair of brackets for order.
absl::StatusOr<Node> ExpressionParser::parenthesis(std::size_t position) {
  if (take_symbol(")")) {
    return make(NodeKind::kList, position, {});
  }
  ASSAY_ASSIGN_OR_RETURN(Node first, conditional());
  if (take_symbol(")")) {
    return first;
  }
  if (!is_next(TokenKind::kSymbol, ",")) {
    return unexpected("`)`");
  }
  ++at_;
  ASSAY_ASSIGN_OR_RETURN(Node rest, list(position, ")"));
  std::vector<Node> items = std::move(rest.children);
  items.insert(items.begin(), std::move(first));
  return make(NodeKind::kList, position, std::move(items));
}

// The index of this bracket's own `for`; the item before it needs the name behind it.
std::size_t ExpressionParser::find_for() const {
  int num_open = 0;
  for (std::size_t i = at_; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::kSymbol && (token.text == "(" || token.text == "[")) {
      ++num_open;
    } else if (token.kind == TokenKind::kSymbol && (token.text == ")" || token.text == "]")) {
      if (--num_open < 0) {
        break;
      }
    } else if (num_open == 0 && token.kind == TokenKind::kWord && token.text == "for") {
      return i;
    }
  }
  return tokens_.size();
}

bool ExpressionParser::is_comprehension() const {
  return find_for() < tokens_.size();
}

absl::StatusOr<Node> ExpressionParser::comprehension(std::size_t position) {
  const Token target = tokens_[find_for() + 1];
  if (target.kind != TokenKind::kWord || !is_expression_name(target.text)) {
    return expression_error(target.position, "expected a name after `for`");
  }
  const std::size_t slot = names_.size() + locals_.size();
  locals_.push_back(target.text);
  max_locals_ = std::max(max_locals_, locals_.size());
  ASSAY_ASSIGN_OR_RETURN(Node item, conditional());
  if (!take_word("for")) {
    return unexpected("`for`");
  }
  ++at_;
  if (!take_word("in")) {
    return unexpected("`in`");
  }
  // The list itself is of the scope outside.
  locals_.pop_back();
  ASSAY_ASSIGN_OR_RETURN(Node items, disjunction());
  std::vector<Node> nodes = together(std::move(items), std::move(item));
  locals_.push_back(target.text);
  if (take_word("if")) {
    ASSAY_ASSIGN_OR_RETURN(Node condition, disjunction());
    nodes.push_back(std::move(condition));
  }
  locals_.pop_back();
  ASSAY_RETURN_IF_ERROR(expect("]"));
  ASSAY_ASSIGN_OR_RETURN(Node node, make(NodeKind::kComprehension, position, std::move(nodes)));
  node.slot = slot;
  return node;
}

}  // namespace assay::tuning
