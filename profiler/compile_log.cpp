#include "profiler/compile_log.h"

#include "profiler/source_limits.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

// Where the compiler puts the name expressions that it is asked for.
constexpr std::string_view kNames = "__nv_name_map";
constexpr std::array<std::string_view, 6> kKinds = {
    "catastrophic error", "internal error", "error", "warning", "remark", "note"};
// Context that names no line of a file.
constexpr std::array<std::string_view, 3> kContext = {
    "detected during", "instantiation of", "argument types are"};

enum class Owner { kUser, kToolkit, kOther };

// The file of "FILE(LINE): error: ..."; nothing when the line starts no message.
std::optional<std::string_view> file_of(std::string_view line) {
  for (std::size_t open = line.find('('); open != std::string_view::npos;
       open = line.find('(', open + 1)) {
    const std::size_t close = line.find_first_not_of("0123456789", open + 1);
    if (open == 0 || close == open + 1 || close == std::string_view::npos ||
        !line.substr(close).starts_with("): ")) {
      continue;
    }
    const std::string_view rest = line.substr(close + 3);
    if (std::ranges::any_of(kKinds,
                            [&](std::string_view kind) { return rest.starts_with(kind); })) {
      return line.substr(0, open);
    }
  }
  return std::nullopt;
}

// The compiler's own, which a macro of a common name can break.
constexpr std::string_view kBuiltinHeader = "__nv_nvrtc_builtin_header.h";
constexpr char kLeftOut[] = "(a message about a file that is not yours is left out)\n";

class Scrubber {
 public:
  Scrubber(const std::set<std::string>& own_files, std::span<const std::string> include_folders)
      : own_files_(own_files) {
    for (const std::string& folder : include_folders) {
      folders_.emplace_back(absl::StrCat(folder, "/"), "");
    }
    // A folder within another one goes first.
    std::ranges::sort(folders_, [](const auto& one, const auto& other) {
      return one.first.size() > other.first.size();
    });
  }

  std::string scrub(std::string_view log) {
    const std::string text(absl::StripSuffix(std::string(log), std::string(1, '\0')));
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      add(line);
      if (text_.size() > kMostLogBytes) {
        text_.resize(kMostLogBytes);
        text_.resize(text_.rfind('\n') + 1);
        return absl::StrCat(
            text_, "(the rest of the log, beyond ", kMostLogBytes, " bytes, is cut)\n");
      }
    }
    return std::string(absl::StripTrailingAsciiWhitespace(text_));
  }

 private:
  Owner owner_of(std::string_view file) const {
    if (file == kBuiltinHeader) {
      return Owner::kToolkit;
    }
    if (file == kNames || own_files_.contains(std::string(file))) {
      return Owner::kUser;
    }
    return std::ranges::any_of(folders_,
                               [&](const auto& folder) { return file.starts_with(folder.first); })
               ? Owner::kToolkit
               : Owner::kOther;
  }

  void add(const std::string& line) {
    const auto file = file_of(line);
    if (file.has_value()) {
      owner_ = owner_of(*file);
      if (owner_ == Owner::kOther) {
        if (!absl::EndsWith(text_, kLeftOut)) {
          absl::StrAppend(&text_, kLeftOut);
        }
        return;
      }
    } else if (line.empty() || !absl::ascii_isspace(static_cast<unsigned char>(line[0]))) {
      owner_ = Owner::kUser;
    } else if (owner_ == Owner::kOther || (owner_ == Owner::kToolkit && !is_context(line))) {
      return;
    }
    absl::StrAppend(&text_, absl::StrReplaceAll(line, folders_), "\n");
  }

  static bool is_context(const std::string& line) {
    return std::ranges::any_of(kContext, [&](std::string_view context) {
      return absl::StripLeadingAsciiWhitespace(line).substr(0, context.size()) ==
             std::string(context);
    });
  }

  const std::set<std::string>& own_files_;
  std::vector<std::pair<std::string, std::string>> folders_;
  Owner owner_ = Owner::kUser;
  std::string text_;
};

}  // namespace

std::string scrub_log(std::string_view log,
                      const std::set<std::string>& own_files,
                      std::span<const std::string> include_folders) {
  return Scrubber(own_files, include_folders).scrub(log);
}

}  // namespace assay::profiler
