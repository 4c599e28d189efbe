// Reads an expression into its tree; tuning/expression.h says what it understands. Recursive
// descent, a method for each level of precedence, the loosest first.
#pragma once

#include "tuning/expression.h"
#include "tuning/token.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::tuning {

class ExpressionParser {
 public:
  // Both must outlive it; the tokens end with kEnd.
  ExpressionParser(const std::vector<Token>& tokens, const std::vector<std::string>& names)
      : tokens_(tokens), names_(names) {}

  absl::StatusOr<Node> parse();

  // Indices of the names that the text uses.
  const std::set<std::size_t>& used() const { return used_; }

  // The most names of comprehensions that are alive at once.
  std::size_t max_locals() const { return max_locals_; }

 private:
  const Token& current() const { return tokens_[at_]; }

  bool is_next(TokenKind kind, std::string_view text) const;
  bool take(TokenKind kind, std::string_view text);

  bool take_symbol(std::string_view text) { return take(TokenKind::kSymbol, text); }

  bool take_word(std::string_view text) { return take(TokenKind::kWord, text); }

  absl::Status unexpected(std::string_view expected) const;
  absl::Status expect(std::string_view symbol);

  static absl::StatusOr<Node> make(NodeKind kind, std::size_t position, std::vector<Node> children);
  static std::vector<Node> together(Node first, Node second);

  // Operators, in parser.cpp.
  template <typename Parse>
  absl::StatusOr<Node> deeper(Parse parse);
  absl::StatusOr<Node> conditional();
  template <typename Operand>
  absl::StatusOr<Node> row(std::string_view word, NodeKind kind, Operand operand);
  absl::StatusOr<Node> disjunction();
  absl::StatusOr<Node> conjunction();
  absl::StatusOr<Node> negation();
  std::optional<Comparison> take_comparison();
  absl::StatusOr<Node> comparison();
  template <typename Table, typename Operand>
  absl::StatusOr<Node> calculation(const Table& table, Operand operand);
  absl::StatusOr<Node> sum();
  absl::StatusOr<Node> product();
  absl::StatusOr<Node> signed_power();
  absl::StatusOr<Node> indexed();

  // What operators stand between, in operands.cpp.
  absl::StatusOr<Node> primary();
  Node constant(Value value);
  absl::StatusOr<Node> word(const Token& token);
  std::optional<std::size_t> slot_of(std::string_view name);
  absl::StatusOr<Node> call(const Token& token);
  absl::StatusOr<Node> list(std::size_t position, std::string_view end);
  absl::StatusOr<Node> parenthesis(std::size_t position);
  std::size_t find_for() const;
  bool is_comprehension() const;
  absl::StatusOr<Node> comprehension(std::size_t position);

  const std::vector<Token>& tokens_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
  std::size_t num_open_ = 0;
  std::size_t max_locals_ = 0;
  std::vector<std::string_view> locals_;
  std::set<std::size_t> used_;
};

}  // namespace assay::tuning
