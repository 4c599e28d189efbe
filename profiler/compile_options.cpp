#include "profiler/compile_options.h"

#include "profiler/source_limits.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>

namespace assay::profiler {
namespace {

constexpr std::string_view kAllowed =
    "--fmad=, --ftz=, --prec-div=, --prec-sqrt= (true or false), --use_fast_math, "
    "--maxrregcount=N, --std=c++03|c++11|c++14|c++17|c++20, --generate-line-info, --restrict, "
    "--extra-device-vectorization, --device-as-default-execution-space, --disable-warnings, "
    "-DNAME, -DNAME=TEXT, -UNAME";

struct Spelling {
  std::string_view name;  // without dashes
  std::string_view stands_for;
};

constexpr std::array<Spelling, 9> kFlags = {{
    {"use_fast_math", "--use_fast_math"},
    {"lineinfo", "--generate-line-info"},
    {"generate-line-info", "--generate-line-info"},
    {"extra-device-vectorization", "--extra-device-vectorization"},
    {"restrict", "--restrict"},
    {"default-device", "--device-as-default-execution-space"},
    {"device-as-default-execution-space", "--device-as-default-execution-space"},
    {"w", "--disable-warnings"},
    {"disable-warnings", "--disable-warnings"},
}};

constexpr std::array<std::string_view, 4> kSwitches = {"fmad", "ftz", "prec-div", "prec-sqrt"};
constexpr std::array<std::string_view, 5> kStandards = {
    "c++03", "c++11", "c++14", "c++17", "c++20"};

constexpr int kMostRegisters = 255;

absl::Status refuse(std::string_view option, std::string_view why) {
  // What is refused may be long and need not be text.
  constexpr std::size_t kMostShown = 100;
  std::string shown(option.substr(0, kMostShown));
  std::ranges::replace_if(
      shown, [](char letter) { return !absl::ascii_isprint(letter); }, '?');
  return absl::InvalidArgumentError(absl::StrCat(
      "option `", shown, "`: ", std::string(why), "; allowed: ", std::string(kAllowed)));
}

bool is_macro_name(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::ranges::all_of(
             name, [](char letter) { return absl::ascii_isalnum(letter) || letter == '_'; });
}

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\n\r\0", 3)) == std::string_view::npos;
}

absl::StatusOr<std::string> valued_option(std::string_view text,
                                          std::string_view name,
                                          std::string_view value) {
  if (std::ranges::find(kSwitches, name) != kSwitches.end()) {
    return value == "true" || value == "false"
               ? absl::StatusOr<std::string>(
                     absl::StrCat("--", std::string(name), "=", std::string(value)))
               : refuse(text, "needs true or false");
  }
  if (name == "maxrregcount") {
    int count = 0;
    return absl::SimpleAtoi(std::string(value), &count) && count > 0 && count <= kMostRegisters
               ? absl::StatusOr<std::string>(absl::StrCat("--maxrregcount=", count))
               : refuse(text, absl::StrCat("needs a number from 1 to ", kMostRegisters));
  }
  if (name == "std") {
    return std::ranges::find(kStandards, value) != kStandards.end()
               ? absl::StatusOr<std::string>(absl::StrCat("--std=", std::string(value)))
               : refuse(text, "no such standard");
  }
  if (name == "gpu-architecture" || name == "arch") {
    return refuse(text, "the architecture is the device's");
  }
  return refuse(text, "not allowed");
}

}  // namespace

absl::StatusOr<std::string> define_option(std::string_view define) {
  const std::string_view name = define.substr(0, define.find('='));
  if (!is_macro_name(name)) {
    return refuse(absl::StrCat("-D", std::string(define)), "needs the name of a macro");
  }
  if (!is_one_line(define) || define.size() > kMostOptionBytes) {
    return refuse(absl::StrCat("-D", std::string(define)),
                  absl::StrCat("needs one line of at most ", kMostOptionBytes, " bytes"));
  }
  return absl::StrCat("-D", std::string(define));
}

absl::StatusOr<std::string> compile_option(std::string_view text) {
  if (text.starts_with("-D")) {
    return define_option(text.substr(2));
  }
  if (text.starts_with("-U")) {
    return is_macro_name(text.substr(2)) ? absl::StatusOr<std::string>(std::string(text))
                                         : refuse(text, "needs the name of a macro");
  }
  if (!text.starts_with('-')) {
    return refuse(text, "not allowed");
  }
  const std::string_view option = text.substr(text.starts_with("--") ? 2 : 1);
  if (const std::size_t equals = option.find('='); equals != std::string_view::npos) {
    return valued_option(text, option.substr(0, equals), option.substr(equals + 1));
  }
  const auto* const flag = std::ranges::find(kFlags, option, &Spelling::name);
  if (flag == kFlags.end()) {
    return refuse(text, "not allowed");
  }
  return std::string(flag->stands_for);
}

}  // namespace assay::profiler
