#include "tuning/token.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::tuning {
namespace {

constexpr std::array<std::string_view, 10> kWords = {
    "and", "else", "False", "for", "if", "in", "lambda", "not", "or", "True"};

constexpr std::array<std::string_view, 22> kSymbols = {
    "**", "//", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*",
    "/",  "%",  "(",  ")",  "[",  "]",  ",",  "<",  ">", ".", "!"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Splits the text; every method leaves `at_` behind what it took.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> tokens() {
    std::vector<Token> result;
    while (true) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (at_ == text_.size()) {
        result.push_back({TokenKind::kEnd, "", at_ + 1});
        return result;
      }
      ASSAY_ASSIGN_OR_RETURN(const Token token, next());
      result.push_back(token);
    }
  }

 private:
  absl::StatusOr<Token> next() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      return number();
    }
    if (is_letter(c)) {
      return take(TokenKind::kWord, at_ + length_of_word());
    }
    if (c == '"' || c == '\'') {
      return string(c);
    }
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(at_).starts_with(symbol)) {
        return take(TokenKind::kSymbol, at_ + symbol.size());
      }
    }
    return expression_error(at_ + 1,
                            c == '=' ? "`=` is not supported; write `==`"
                                     : absl::StrCat("`", shown(c), "` is not supported"));
  }

  static std::string shown(char c) {
    return static_cast<unsigned char>(c) < 0x80 ? std::string(1, c) : "a character beyond ASCII";
  }

  Token take(TokenKind kind, std::size_t end) {
    const Token token{kind, text_.substr(at_, end - at_), at_ + 1};
    at_ = end;
    return token;
  }

  std::size_t length_of_word() const {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) {
      ++end;
    }
    return end - at_;
  }

  void skip_digits(std::size_t& end) const {
    while (end < text_.size() && is_digit(text_[end])) {
      ++end;
    }
  }

  absl::StatusOr<Token> number() {
    std::size_t end = at_;
    skip_digits(end);
    if (end < text_.size() && text_[end] == '.') {
      skip_digits(++end);
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) {
        ++end;
      }
      skip_digits(end);
    }
    if (end < text_.size() && is_letter(text_[end])) {
      return expression_error(end + 1, "a number ends in a letter");
    }
    return take(TokenKind::kNumber, end);
  }

  absl::StatusOr<Token> string(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      return expression_error(at_ + 1, "the string has no end");
    }
    Token token = take(TokenKind::kString, end + 1);
    token.text = token.text.substr(1, token.text.size() - 2);
    if (token.text.find('\\') != std::string_view::npos) {
      return expression_error(token.position, "a backslash in a string is not supported");
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Token>> tokens_of(std::string_view text) {
  return Lexer(text).tokens();
}

absl::StatusOr<Value> number_of(const Token& token) {
  if (token.text.find_first_of(".eE") != std::string_view::npos) {
    double real = 0;
    if (!absl::SimpleAtod({token.text.data(), token.text.size()}, &real) || !std::isfinite(real)) {
      return expression_error(token.position, "not a finite number");
    }
    return real;
  }
  std::int64_t integer = 0;
  if (!absl::SimpleAtoi({token.text.data(), token.text.size()}, &integer)) {
    return expression_error(token.position, "the integer does not fit into 64 bits");
  }
  if (token.text.size() > 1 && token.text.front() == '0' && integer != 0) {
    return expression_error(token.position, "an integer starts with 0");
  }
  return integer;
}

absl::Status expression_error(std::size_t position, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("unsupported expression: position ", position, ": ", std::string(what)));
}

bool is_expression_word(std::string_view text) {
  return std::ranges::find(kWords, text) != kWords.end();
}

bool is_expression_name(std::string_view text) {
  const auto is_part = [](char c) { return is_letter(c) || is_digit(c); };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_part) &&
         !is_expression_word(text);
}

}  // namespace assay::tuning
