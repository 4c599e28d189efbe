#include "client/modes.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace assay::client {
namespace {

template <typename Enum>
absl::StatusOr<Enum> parse(const std::string& option,
                           const std::string& name,
                           const std::string& expected,
                           std::initializer_list<std::pair<std::string_view, Enum>> names) {
  std::string wanted = absl::AsciiStrToLower(name);
  std::ranges::replace(wanted, '-', '_');
  for (const auto& [known, value] : names) {
    if (wanted == known) {
      return value;
    }
  }
  return name.empty() ? absl::StatusOr<Enum>(Enum{})
                      : absl::InvalidArgumentError(
                            absl::StrCat(option, ": `", name, "`: expected one of ", expected));
}

}  // namespace

absl::StatusOr<v1::CacheMode> parse_cache(const std::string& name) {
  return parse<v1::CacheMode>("--cache", name, "cold, hot", {{"cold", v1::COLD}, {"hot", v1::HOT}});
}

absl::StatusOr<v1::LaunchMode> parse_launch_mode(const std::string& name) {
  return parse<v1::LaunchMode>(
      "--launch-mode", name, "graph, stream", {{"graph", v1::GRAPH}, {"stream", v1::STREAM}});
}

absl::StatusOr<v1::TimingSource> parse_timing(const std::string& name) {
  return parse<v1::TimingSource>("--timing",
                                 name,
                                 "activity, clock, events",
                                 {{"activity", v1::CUPTI_ACTIVITY},
                                  {"cupti_activity", v1::CUPTI_ACTIVITY},
                                  {"clock", v1::STEADY_CLOCK},
                                  {"steady_clock", v1::STEADY_CLOCK},
                                  {"events", v1::CUDA_EVENTS},
                                  {"cuda_events", v1::CUDA_EVENTS}});
}

}  // namespace assay::client
