#include "tests/profiler/faulty_checks.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {
namespace {

kernels::Workload case_workload(std::int64_t index) {
  return {.axes = {{"n", absl::StrCat(20 + index)}, {"kind", index == 2 ? "zeros" : "ramp"}},
          .seed = 0};
}

kernels::Workload zeros_workload(std::int64_t index) {
  return {.axes = {{"n", absl::StrCat(20 + index)}, {"kind", "zeros"}}, .seed = 0};
}

// The last one fits into no memory.
kernels::Workload growing_workload(std::int64_t index) {
  return {.axes = {{"n", index == 0 ? "20" : "10000000000000"}}, .seed = 0};
}

constexpr std::array<std::string_view, 2> kTwins = {"twin", "plain:width=8"};
constexpr std::array<std::string_view, 2> kDrifters = {"twin", "far"};
constexpr std::array<std::string_view, 1> kReaders = {"past_end"};
constexpr std::array<std::string_view, 2> kPartials = {"partial", "unavailable"};

kernels::CaseSuite suite(std::string_view name,
                         std::int64_t num_cases,
                         std::span<const std::string_view> arms) {
  kernels::CaseSuite suite;
  suite.suite = "parity";
  suite.name = name;
  suite.count_by = "kind";
  suite.num_cases = num_cases;
  suite.workload = name == "zeros"     ? zeros_workload
                   : name == "growing" ? growing_workload
                                       : case_workload;
  suite.arms = arms;
  suite.against_reference = name == "twins";
  return suite;
}

// Pair by pair the right call grows past what by_size notices.
kernels::InvariancePair prefix_pair(std::int64_t index) {
  return {.name = absl::StrCat("n=", 28 + 2 * index),
          .left = {.axes = {{"n", "20"}}},
          .right = {.axes = {{"n", absl::StrCat(29 + 2 * index)}}}};
}

kernels::InvariancePair large_pair(std::int64_t index) {
  return {.name = absl::StrCat("pair ", index),
          .left = growing_workload(index),
          .right = growing_workload(0)};
}

kernels::InvariancePair borrowed_pair(std::int64_t index) {
  kernels::InvariancePair pair = prefix_pair(index);
  pair.left_arm = "plain";
  pair.right_arm = index == 0 ? "plain:width=8" : "on_gpu";
  return pair;
}

kernels::InvariancePair brief_pair(std::int64_t index) {
  kernels::InvariancePair pair = prefix_pair(index);
  (index == 0 ? pair.left_arm : pair.right_arm) = "plain";
  return pair;
}

kernels::InvariancePair zeros_pair(std::int64_t /*index*/) {
  return {.name = "zeros",
          .left = {.axes = {{"kind", "zeros"}}},
          .right = {.axes = {{"kind", "zeros"}}}};
}

std::int64_t n_of(const kernels::Problem& problem) {
  return problem.tensors()[0].shape[0];
}

std::vector<kernels::RangePair> match_prefix(const kernels::Problem& left,
                                             const kernels::Problem& /*right*/,
                                             std::size_t /*tensor*/) {
  return {{.left = {.begin = 0, .end = n_of(left) - 1}, .right_begin = 0}};
}

// The inputs repeat after 97 elements.
std::vector<kernels::RangePair> match_shifted(const kernels::Problem& /*left*/,
                                              const kernels::Problem& /*right*/,
                                              std::size_t /*tensor*/) {
  return {{.left = {.begin = 1, .end = 4}, .right_begin = 2}};
}

std::vector<kernels::RangePair> match_dead(const kernels::Problem& left,
                                           const kernels::Problem& /*right*/,
                                           std::size_t /*tensor*/) {
  return {{.left = {.begin = 0, .end = n_of(left)}, .right_begin = 0}};
}

std::vector<kernels::RangePair> match_nothing(const kernels::Problem& /*left*/,
                                              const kernels::Problem& /*right*/,
                                              std::size_t /*tensor*/) {
  return {};
}

constexpr std::array<std::string_view, 2> kSized = {"plain", "by_size"};
constexpr std::array<std::string_view, 1> kOnGpu = {"on_gpu"};
constexpr std::array<std::string_view, 1> kLazy = {"lazy_when_timed"};
constexpr std::array<std::string_view, 1> kHalf = {"partial"};
constexpr std::array<std::string_view, 2> kGivesUp = {"plain", "refusing"};
constexpr std::array<std::string_view, 2> kBriefs = {"plain", "brief"};
constexpr std::array<std::string_view, 1> kBeyond = {"overrun"};
constexpr std::array<std::string_view, 1> kMisspelt = {"plain:width=9"};

const std::array<kernels::Invariance, 16> kInvariances = {
    {{.name = "holds",
      .help = "more elements change no other",
      .num_pairs = 3,
      .pair = prefix_pair,
      .matched = match_prefix,
      .arms = kTwins,
      .num_repeats = 2},
     {.name = "differs_at_second",
      .help = "",
      .num_pairs = 3,
      .pair = prefix_pair,
      .matched = match_prefix,
      .arms = kSized},
     {.name = "elsewhere", .help = "", .num_pairs = 2, .pair = prefix_pair, .arms = kOnGpu},
     {.name = "partly_elsewhere",
      .help = "",
      .num_pairs = 2,
      .pair = borrowed_pair,
      .matched = match_prefix,
      .arms = kTwins},
     {.name = "too_large", .help = "", .num_pairs = 2, .pair = large_pair, .arms = kTwins},
     {.name = "shifted",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_shifted,
      .arms = kTwins},
     {.name = "matches_dead",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_dead,
      .arms = kTwins},
     {.name = "matches_nothing",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_nothing,
      .arms = kTwins},
     {.name = "lives_elsewhere", .help = "", .num_pairs = 1, .pair = prefix_pair, .arms = kTwins},
     {.name = "third_repeat",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_prefix,
      .arms = kLazy,
      .num_repeats = 5},
     {.name = "unwritten", .help = "", .num_pairs = 1, .pair = zeros_pair, .arms = kHalf},
     {.name = "gives_up",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_prefix,
      .arms = kGivesUp},
     {.name = "zeros", .help = "", .num_pairs = 1, .pair = zeros_pair, .arms = kTwins},
     {.name = "left_alone",
      .help = "",
      .num_pairs = 2,
      .pair = brief_pair,
      .matched = match_prefix,
      .arms = kBriefs},
     {.name = "overruns",
      .help = "",
      .num_pairs = 1,
      .pair = prefix_pair,
      .matched = match_prefix,
      .arms = kBeyond},
     {.name = "misspelt", .help = "", .num_pairs = 1, .pair = prefix_pair, .arms = kMisspelt}}};

const std::array<kernels::CaseSuite, 7> kSuites = {suite("twins", 5, kTwins),
                                                   suite("drifters", 3, kDrifters),
                                                   suite("readers", 1, kReaders),
                                                   suite("partials", 1, kPartials),
                                                   suite("all", 1, {}),
                                                   suite("zeros", 2, kTwins),
                                                   suite("growing", 2, kTwins)};

}  // namespace

std::span<const kernels::CaseSuite> faulty_suites() {
  return kSuites;
}

std::span<const kernels::Invariance> faulty_invariances() {
  return kInvariances;
}

}  // namespace assay::profiler
