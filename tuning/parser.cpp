#include "tuning/parser.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::tuning {
namespace {

constexpr std::size_t kMaxDepth = 100;

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons = {{
    {"==", Comparison::kEqual},
    {"!=", Comparison::kNotEqual},
    {"<", Comparison::kLess},
    {"<=", Comparison::kLessOrEqual},
    {">", Comparison::kGreater},
    {">=", Comparison::kGreaterOrEqual},
}};

constexpr std::array<std::pair<std::string_view, Arithmetic>, 2> kSums = {{
    {"+", Arithmetic::kAdd},
    {"-", Arithmetic::kSubtract},
}};

constexpr std::array<std::pair<std::string_view, Arithmetic>, 4> kProducts = {{
    {"*", Arithmetic::kMultiply},
    {"/", Arithmetic::kDivide},
    {"//", Arithmetic::kFloorDivide},
    {"%", Arithmetic::kModulo},
}};

template <typename Table>
auto find_in(const Table& table, std::string_view text) {
  using Found = std::optional<decltype(table.front().second)>;
  const auto* found = std::ranges::find(table, text, [](const auto& row) { return row.first; });
  return found == table.end() ? Found() : Found(found->second);
}

}  // namespace

absl::StatusOr<Node> ExpressionParser::parse() {
  ASSAY_ASSIGN_OR_RETURN(Node root, conditional());
  if (current().kind != TokenKind::kEnd) {
    return unexpected("the end");
  }
  return root;
}

bool ExpressionParser::take(TokenKind kind, std::string_view text) {
  const bool is_there = is_next(kind, text);
  at_ += is_there ? 1 : 0;
  return is_there;
}

absl::Status ExpressionParser::unexpected(std::string_view expected) const {
  const Token& token = current();
  if (token.kind == TokenKind::kEnd) {
    return expression_error(token.position,
                            absl::StrCat("it ends where ", std::string(expected), " is expected"));
  }
  const std::string text(token.text);
  const std::string fix = text == "&&"   ? "; write `and`"
                          : text == "||" ? "; write `or`"
                          : text == "!"  ? "; write `not`"
                          : text == "."  ? "; attributes are not supported"
                                         : absl::StrCat("; expected ", std::string(expected));
  return expression_error(token.position, absl::StrCat("unexpected `", text, "`", fix));
}

absl::Status ExpressionParser::expect(std::string_view symbol) {
  return take_symbol(symbol) ? absl::OkStatus()
                             : unexpected(absl::StrCat("`", std::string(symbol), "`"));
}

bool ExpressionParser::is_next(TokenKind kind, std::string_view text) const {
  return current().kind == kind && current().text == text;
}

// Every node of more than one level is made here, so that the tree's depth is bounded.
absl::StatusOr<Node> ExpressionParser::make(NodeKind kind,
                                            std::size_t position,
                                            std::vector<Node> children) {
  Node node;
  node.kind = kind;
  node.position = position;
  for (const Node& child : children) {
    node.depth = std::max(node.depth, child.depth + 1);
  }
  if (node.depth > kMaxDepth) {
    return expression_error(position, "more than 100 levels");
  }
  node.children = std::move(children);
  return node;
}

std::vector<Node> ExpressionParser::together(Node first, Node second) {
  std::vector<Node> nodes;
  nodes.push_back(std::move(first));
  nodes.push_back(std::move(second));
  return nodes;
}

// Counts what is open, for the parser's own recursion.
template <typename Parse>
absl::StatusOr<Node> ExpressionParser::deeper(Parse parse) {
  if (++num_open_ > kMaxDepth) {
    return expression_error(current().position, "more than 100 levels");
  }
  absl::StatusOr<Node> node = parse();
  --num_open_;
  return node;
}

absl::StatusOr<Node> ExpressionParser::conditional() {
  return deeper([this]() -> absl::StatusOr<Node> {
    ASSAY_ASSIGN_OR_RETURN(Node value, disjunction());
    const std::size_t position = current().position;
    if (!take_word("if")) {
      return value;
    }
    ASSAY_ASSIGN_OR_RETURN(Node condition, disjunction());
    if (!take_word("else")) {
      return unexpected("`else`");
    }
    ASSAY_ASSIGN_OR_RETURN(Node other, conditional());
    std::vector<Node> nodes = together(std::move(condition), std::move(value));
    nodes.push_back(std::move(other));
    return make(NodeKind::kConditional, position, std::move(nodes));
  });
}

// One node for a whole row of `word`.
template <typename Operand>
absl::StatusOr<Node> ExpressionParser::row(std::string_view word, NodeKind kind, Operand operand) {
  ASSAY_ASSIGN_OR_RETURN(Node first, operand());
  if (!is_next(TokenKind::kWord, word)) {
    return first;
  }
  const std::size_t position = current().position;
  std::vector<Node> nodes;
  nodes.push_back(std::move(first));
  while (take_word(word)) {
    ASSAY_ASSIGN_OR_RETURN(Node next, operand());
    nodes.push_back(std::move(next));
  }
  return make(kind, position, std::move(nodes));
}

absl::StatusOr<Node> ExpressionParser::disjunction() {
  return row("or", NodeKind::kOr, [this] { return conjunction(); });
}

absl::StatusOr<Node> ExpressionParser::conjunction() {
  return row("and", NodeKind::kAnd, [this] { return negation(); });
}

absl::StatusOr<Node> ExpressionParser::negation() {
  const std::size_t position = current().position;
  if (!take_word("not")) {
    return comparison();
  }
  ASSAY_ASSIGN_OR_RETURN(Node operand, deeper([this] { return negation(); }));
  return make(NodeKind::kNot, position, {std::move(operand)});
}

std::optional<Comparison> ExpressionParser::take_comparison() {
  if (current().kind == TokenKind::kSymbol) {
    const std::optional<Comparison> found = find_in(kComparisons, current().text);
    at_ += found ? 1 : 0;
    return found;
  }
  if (take_word("in")) {
    return Comparison::kIn;
  }
  if (is_next(TokenKind::kWord, "not") && tokens_[at_ + 1].text == "in") {
    at_ += 2;
    return Comparison::kNotIn;
  }
  return std::nullopt;
}

absl::StatusOr<Node> ExpressionParser::comparison() {
  ASSAY_ASSIGN_OR_RETURN(Node first, sum());
  const std::size_t position = current().position;
  std::vector<Node> nodes;
  nodes.push_back(std::move(first));
  std::vector<Comparison> comparisons;
  while (const std::optional<Comparison> next = take_comparison()) {
    comparisons.push_back(*next);
    ASSAY_ASSIGN_OR_RETURN(Node operand, sum());
    nodes.push_back(std::move(operand));
  }
  if (comparisons.empty()) {
    return std::move(nodes.front());
  }
  ASSAY_ASSIGN_OR_RETURN(Node node, make(NodeKind::kCompare, position, std::move(nodes)));
  node.comparisons = std::move(comparisons);
  return node;
}

// Operators of one precedence, from the left.
template <typename Table, typename Operand>
absl::StatusOr<Node> ExpressionParser::calculation(const Table& table, Operand operand) {
  ASSAY_ASSIGN_OR_RETURN(Node left, operand());
  while (current().kind == TokenKind::kSymbol) {
    const std::size_t position = current().position;
    const std::optional<Arithmetic> found = find_in(table, current().text);
    if (!found) {
      break;
    }
    ++at_;
    ASSAY_ASSIGN_OR_RETURN(Node right, operand());
    ASSAY_ASSIGN_OR_RETURN(
        left, make(NodeKind::kCalculate, position, together(std::move(left), std::move(right))));
    left.arithmetic = *found;
  }
  return left;
}

absl::StatusOr<Node> ExpressionParser::sum() {
  return calculation(kSums, [this] { return product(); });
}

absl::StatusOr<Node> ExpressionParser::product() {
  return calculation(kProducts, [this] { return signed_power(); });
}

// A sign binds weaker than `**` on its right and stronger on its left.
absl::StatusOr<Node> ExpressionParser::signed_power() {
  return deeper([this]() -> absl::StatusOr<Node> {
    const std::size_t position = current().position;
    const bool is_minus = is_next(TokenKind::kSymbol, "-");
    if (take_symbol("-") || take_symbol("+")) {
      ASSAY_ASSIGN_OR_RETURN(Node operand, signed_power());
      return make(is_minus ? NodeKind::kNegate : NodeKind::kPlus, position, {std::move(operand)});
    }
    ASSAY_ASSIGN_OR_RETURN(Node base, indexed());
    const std::size_t operator_position = current().position;
    if (!take_symbol("**")) {
      return base;
    }
    ASSAY_ASSIGN_OR_RETURN(Node exponent, signed_power());
    ASSAY_ASSIGN_OR_RETURN(Node node,
                           make(NodeKind::kCalculate,
                                operator_position,
                                together(std::move(base), std::move(exponent))));
    node.arithmetic = Arithmetic::kPower;
    return node;
  });
}

absl::StatusOr<Node> ExpressionParser::indexed() {
  ASSAY_ASSIGN_OR_RETURN(Node node, primary());
  while (is_next(TokenKind::kSymbol, "[")) {
    const std::size_t position = current().position;
    ++at_;
    ASSAY_ASSIGN_OR_RETURN(Node index, conditional());
    ASSAY_RETURN_IF_ERROR(expect("]"));
    ASSAY_ASSIGN_OR_RETURN(
        node, make(NodeKind::kIndex, position, together(std::move(node), std::move(index))));
  }
  if (is_next(TokenKind::kSymbol, ".") || is_next(TokenKind::kSymbol, "(")) {
    return unexpected("an operator");
  }
  return node;
}

}  // namespace assay::tuning
