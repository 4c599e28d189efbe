#include "client/kernel_signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace assay::client {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Blanks in the place of comments, so that positions stay.
std::string without_comments(std::string_view source) {
  std::string text(source);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '/' || (text[i + 1] != '/' && text[i + 1] != '*')) {
      continue;
    }
    const bool is_line = text[i + 1] == '/';
    const std::size_t found = text.find(is_line ? "\n" : "*/", i + 2);
    const std::size_t end = found == std::string::npos ? text.size() : found + (is_line ? 0 : 2);
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(i),
              text.begin() + static_cast<std::ptrdiff_t>(end),
              ' ');
    i = end - 1;
  }
  return text;
}

// Where the parameters begin behind a definition of `kernel`; npos where `at` is none.
std::size_t parameters_at(std::string_view text, std::string_view kernel, std::size_t at) {
  const std::size_t behind = at + kernel.size();
  if ((at > 0 && is_word(text[at - 1])) || (behind < text.size() && is_word(text[behind]))) {
    return std::string_view::npos;
  }
  const std::size_t open = text.find_first_not_of(" \t\r\n", behind);
  const std::size_t last = at == 0 ? std::string_view::npos : text.find_last_of(";{}", at - 1);
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  const bool is_kernel =
      text.substr(begin, at - begin).find("__global__") != std::string_view::npos;
  return is_kernel && open != std::string_view::npos && text[open] == '(' ? open + 1
                                                                          : std::string_view::npos;
}

// The words of one parameter; a `*` or a bracket is a word too.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_word(text[i])) {
      const std::size_t begin = i;
      while (i + 1 < text.size() && is_word(text[i + 1])) {
        ++i;
      }
      words.emplace_back(text.substr(begin, i + 1 - begin));
    } else if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      words.emplace_back(1, text[i]);
    }
  }
  return words;
}

// How C++ spells the types that are known.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kTypes = {
    {{"float", "f32"},
     {"double", "f64"},
     {"half", "f16"},
     {"__half", "f16"},
     {"__nv_bfloat16", "bf16"},
     {"char", "i8"},
     {"signed char", "i8"},
     {"int8_t", "i8"},
     {"unsigned char", "u8"},
     {"uint8_t", "u8"},
     {"bool", "u8"},
     {"int", "i32"},
     {"unsigned int", "i32"},
     {"unsigned", "i32"},
     {"int32_t", "i32"},
     {"uint32_t", "i32"},
     {"long long", "i64"},
     {"unsigned long long", "i64"},
     {"int64_t", "i64"},
     {"uint64_t", "i64"},
     {"size_t", "i64"}}};

std::string dtype_of(std::string_view type) {
  for (const auto& [spelled, dtype] : kTypes) {
    if (spelled == type) {
      return std::string(dtype);
    }
  }
  return "";
}

KernelParameter parameter_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> kQualifiers = {
      "const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"};
  std::vector<std::string> words = words_of(text);
  std::erase_if(words, [&](const std::string& word) {
    return std::ranges::find(kQualifiers, std::string_view(word)) != kQualifiers.end();
  });
  KernelParameter parameter;
  std::string type;
  // The last word is the parameter's name.
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "*" && !parameter.is_pointer) {
      parameter.is_pointer = true;
    } else {
      type += (type.empty() ? "" : " ") + words[i];
    }
  }
  parameter.dtype = dtype_of(type);
  return parameter;
}

}  // namespace

std::optional<std::vector<KernelParameter>> kernel_signature(std::string_view source,
                                                             std::string_view kernel) {
  const std::string text = without_comments(source);
  std::size_t begin = std::string::npos;
  for (std::size_t at = text.find(kernel); at != std::string::npos && !kernel.empty();
       at = text.find(kernel, at + 1)) {
    const std::size_t found = parameters_at(text, kernel, at);
    if (found == std::string::npos) {
      continue;
    }
    if (begin != std::string::npos) {
      return std::nullopt;
    }
    begin = found;
  }
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  std::vector<KernelParameter> parameters;
  std::size_t depth = 0;
  std::size_t start = begin;
  for (std::size_t at = begin; at < text.size() && text[at] != '#'; ++at) {
    const char c = text[at];
    if (depth == 0 && (c == ',' || c == ')')) {
      const std::string_view one = std::string_view(text).substr(start, at - start);
      if (!words_of(one).empty()) {
        parameters.push_back(parameter_of(one));
      }
      start = at + 1;
      if (c == ')') {
        return parameters;
      }
    } else if (c == '(' || c == '<' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == '>' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

}  // namespace assay::client
