// The words of an expression: numbers, strings, names and symbols.
#pragma once

#include "tuning/value.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay::tuning {

enum class TokenKind { kNumber, kString, kWord, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;     // of a string what is between the quotes
  std::size_t position = 0;  // from 1
};

// The last token is kEnd. They look into `text`, which must outlive them. Bounded by its length.
absl::StatusOr<std::vector<Token>> tokens_of(std::string_view text);

// Of a kNumber: an integer of 64 bits, or a finite float.
absl::StatusOr<Value> number_of(const Token& token);

// INVALID_ARGUMENT in the form that all errors of expressions have; positions start at 1.
absl::Status expression_error(std::size_t position, std::string_view what);

// A word of the language, which names nothing.
bool is_expression_word(std::string_view text);

// Letters, digits and `_`, not first a digit, and no word of the language.
bool is_expression_name(std::string_view text);

}  // namespace assay::tuning
