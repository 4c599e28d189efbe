#include "server/receipt_scrub.h"

#include "proto/text.h"
#include "server/receipt_hosts.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::server {
namespace {

constexpr std::string_view kPathRemoved = "(path removed)";
constexpr std::string_view kDelimiters = " \t\n\r\"'`()[]{}<>,;|=";
constexpr std::size_t kShortestHost = 3;

// Programs that launch a runner elsewhere, and their commands: arguments of a prefix, but no hosts.
constexpr std::array<std::string_view, 16> kPrograms = {"bash",
                                                        "docker",
                                                        "env",
                                                        "exec",
                                                        "flux",
                                                        "kubectl",
                                                        "mpirun",
                                                        "nice",
                                                        "numactl",
                                                        "podman",
                                                        "qsub",
                                                        "run",
                                                        "srun",
                                                        "ssh",
                                                        "sudo",
                                                        "taskset"};
constexpr std::array<std::string_view, 12> kSourceEndings = {
    ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl", ".ptx", ".py"};

template <class Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_letter_or_digit(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c));
}

bool is_delimiter(char c) {
  return kDelimiters.find(c) != std::string_view::npos;
}

// What a relative path or a rate ("bytes/s") has before a slash, and a path after it.
bool is_name(char c) {
  return is_letter_or_digit(c) || std::string_view("_.-+*/~").find(c) != std::string_view::npos;
}

bool starts_drive(std::string_view word, std::size_t place) {
  return place + 2 < word.size() && absl::ascii_isalpha(static_cast<unsigned char>(word[place])) &&
         word[place + 1] == ':' && (word[place + 2] == '\\' || word[place + 2] == '/') &&
         (place == 0 || !is_letter_or_digit(word[place - 1]));
}

// "-I" of "-I/usr/include", "-isystem".
bool is_flag(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && std::ranges::all_of(text.substr(1), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_';
         });
}

bool starts_path(std::string_view word, std::size_t place) {
  if (starts_drive(word, place) || (place == 0 && word.starts_with("\\\\"))) {
    return true;
  }
  if (word[place] == '~') {
    return place == 0 && word.find('/') != std::string_view::npos;
  }
  const std::size_t first = std::min(word.find_first_not_of('/', place), word.size());
  if (first == place || first == word.size() || !is_name(word[first])) {
    return false;
  }
  // A double slash behind a name divides integers, unless what follows has folders.
  const bool has_folders = first > place + 1 && word.find('/', first) != std::string_view::npos;
  return place == 0 || !is_name(word[place - 1]) || is_flag(word.substr(0, place)) || has_folders;
}

// "src/k.cu": behind a path and a blank, it may be the rest of that path.
bool is_relative_path(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos || !is_letter_or_digit(word[0])) {
    return false;
  }
  for (std::size_t place = 0; place < word.size(); ++place) {
    if (starts_path(word, place)) {
      return false;
    }
  }
  return true;
}

// "kernel.cu" of ".../kernel.cu"; empty where the last part may be anything.
std::string source_name(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of("/\\") + 1);
  const std::size_t point = name.rfind('.');
  return point != std::string_view::npos && point > 0 &&
                 is_one_of(name.substr(point), kSourceEndings)
             ? std::string(name)
             : std::string();
}

std::string scrub_word(std::string_view word) {
  if (word.find("://") != std::string_view::npos || is_ipv6(word)) {
    return std::string(kHostRemoved);
  }
  for (std::size_t place = 0; place < word.size(); ++place) {
    if (!starts_path(word, place)) {
      continue;
    }
    // What follows a colon is a line, or the next path of a list.
    const std::size_t colon = word.find(':', place + (starts_drive(word, place) ? 2 : 0));
    const std::size_t end = std::min(colon, word.size());
    const std::string name = source_name(word.substr(place, end - place));
    return absl::StrCat(scrub_hosts(word.substr(0, place)),
                        name.empty() ? std::string(kPathRemoved) : ".../" + name,
                        end < word.size() ? ":" + scrub_word(word.substr(end + 1)) : "");
  }
  return scrub_hosts(word);
}

bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

std::string scrub_words(std::string_view text) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    if (is_delimiter(text[place])) {
      result += text[place++];
      continue;
    }
    std::size_t end = std::min(text.find_first_of(kDelimiters, place), text.size());
    // A path in quotes may have blanks.
    if (place > 0 && is_quote(text[place - 1]) && starts_path(text.substr(place, end - place), 0)) {
      const std::size_t quote = text.find(text[place - 1], place);
      const std::size_t line_end = text.find('\n', place);
      end = quote < line_end ? std::min(quote, text.size()) : end;
    }
    const std::string_view word = text.substr(place, end - place);
    // A path may go on behind a blank: the blank goes with it, unless a source's name follows.
    if (result.ends_with(absl::StrCat(std::string(kPathRemoved), " ")) && is_relative_path(word)) {
      const std::string rest = scrub_word(absl::StrCat("/", std::string(word)));
      if (rest.starts_with(std::string(kPathRemoved))) {
        result.resize(result.size() - kPathRemoved.size() - 1);
      }
      result += rest;
    } else {
      result += scrub_word(word);
    }
    place = end;
  }
  return result;
}

void replace_whole(std::string& text, const std::string& name) {
  const auto is_apart = [&text](std::size_t place) {
    return place >= text.size() || !(is_letter_or_digit(text[place]) || text[place] == '_');
  };
  for (std::size_t place = text.find(name); place != std::string::npos;
       place = text.find(name, place)) {
    if ((place > 0 && !is_apart(place - 1)) || !is_apart(place + name.size())) {
      ++place;
      continue;
    }
    text.replace(place, name.size(), kHostRemoved);
    place += kHostRemoved.size();
  }
}

// Controls (below U+0020, U+007F to U+009F), and what turns or hides the text around it (U+200B to
// U+200F, U+2028 to U+202E, U+2066 to U+2069), are blanks.
std::string visible(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U;
    };
    const bool is_late_control = byte(0) == 0xC2U && byte(1) >= 0x80U && byte(1) <= 0x9FU;
    const bool hides =
        byte(0) == 0xE2U && ((byte(1) == 0x80U && byte(2) >= 0x8BU &&
                              (byte(2) <= 0x8FU || byte(2) >= 0xA8U) && byte(2) <= 0xAEU) ||
                             (byte(1) == 0x81U && byte(2) >= 0xA6U && byte(2) <= 0xA9U));
    if (hides || is_late_control) {
      i += hides ? 2 : 1;
      result += ' ';
    } else {
      result += byte(0) < 0x20U || byte(0) == 0x7FU ? ' ' : text[i];
    }
  }
  return result;
}

std::string cut(std::string text) {
  if (text.size() <= kMaxReceiptText) {
    return text;
  }
  std::size_t end = kMaxReceiptText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  const std::size_t num_missing = text.size() - end;
  text.resize(end);
  return absl::StrCat(
      text, " (and ", proto::with_commas(static_cast<std::int64_t>(num_missing)), " more bytes)");
}

}  // namespace

Scrub::Scrub(const v1::Device& device) {
  const auto add = [this](std::string_view name) {
    if (name.size() >= kShortestHost && !is_one_of(name, kPrograms)) {
      hosts_.emplace_back(name);
    }
  };
  for (const std::string& argument : device.launch_prefix()) {
    const std::string_view name(argument);
    // Options and their values, and scripts.
    if (!name.starts_with('-') && name.find_first_of(" =/") == std::string_view::npos) {
      add(name.substr(name.find('@') + 1));
    }
  }
  // A name as "h200" or "cpu" says what the device is, not where.
  const std::string name = absl::AsciiStrToLower(device.name());
  const bool says_what = absl::StrContains(absl::AsciiStrToLower(device.model()), name) ||
                         name.starts_with(device.backend()) || name.starts_with("gpu");
  if (!says_what) {
    add(device.name());
  }
}

std::string Scrub::text(std::string_view text) const {
  std::string result = scrub_words(text);
  for (const std::string& host : hosts_) {
    replace_whole(result, host);
  }
  return cut(visible(result));
}

void Scrub::message(google::protobuf::Message& message) const {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (!is_text && field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    if (!field->is_repeated()) {
      if (is_text) {
        reflection.SetString(&message, field, text(reflection.GetString(message, field)));
      } else {
        this->message(*reflection.MutableMessage(&message, field));
      }
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (is_text) {
        reflection.SetRepeatedString(
            &message, field, i, text(reflection.GetRepeatedString(message, field, i)));
      } else {
        this->message(*reflection.MutableRepeatedMessage(&message, field, i));
      }
    }
  }
}

}  // namespace assay::server
