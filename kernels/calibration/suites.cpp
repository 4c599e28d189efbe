#include "kernels/calibration/contract.h"
#include "kernels/calibration/workloads.h"
#include "kernels/inputs.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <string>

namespace assay::kernels::calibration {
namespace {

Workload workload_of(std::int64_t elements, std::int64_t steps, std::uint64_t seed) {
  const std::vector<Setting> given = {{"elements", absl::StrCat(elements)},
                                      {"steps", absl::StrCat(steps)}};
  return {.axes = *complete_settings(axes(), given), .seed = seed};
}

// ---- parity: counts around the edges of a four, a warp, a block and a task ----

constexpr std::array<std::int64_t, 16> kEdges = {
    1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1'023, 1'024, 1'025, 4'099, 65'537};
constexpr std::array<std::int64_t, 5> kSteps = {0, 1, 2, 17, 100};
constexpr std::string_view kParityArms[] = {
    "plain:extra=20", "plain:extra=1000", "fours", "fours:extra=20", "fours:extra=1000"};

Workload parity_case(std::int64_t index) {
  return workload_of(kEdges[static_cast<std::size_t>(index / std::ssize(kSteps))],
                     kSteps[static_cast<std::size_t>(index % std::ssize(kSteps))],
                     static_cast<std::uint64_t>(index));
}

// ---- values: drawn counts against the reference ----

constexpr std::int64_t kDrawn = 16;
constexpr std::array<std::int64_t, 4> kLongSteps = {5, 64, 999, 2'000};
constexpr std::string_view kValueArms[] = {"plain", "fours", "fours:extra=1000"};

Workload value_case(std::int64_t index) {
  const std::uint64_t key = make_key(static_cast<std::uint64_t>(index), "values");
  return workload_of(1 + random_below(key, 0, 5'000),
                     kLongSteps[static_cast<std::size_t>(index) % kLongSteps.size()],
                     1'000 + static_cast<std::uint64_t>(index));
}

// ---- invariances ----

InvariancePair prefix_equals_whole(std::int64_t index) {
  constexpr std::array<std::array<std::int64_t, 2>, 5> kSizes = {
      {{1, 2}, {3, 5}, {255, 257}, {1'000, 4'099}, {4'099, 100'000}}};
  const auto [part, whole] = kSizes[static_cast<std::size_t>(index)];
  return {.name = absl::StrCat(part, " of ", whole),
          .left = workload_of(part, 17, 2'000),
          .right = workload_of(whole, 17, 2'000),
          .left_arm = {},
          .right_arm = {}};
}

std::vector<RangePair> matched_prefix(const Problem& left,
                                      const Problem& /*right*/,
                                      std::size_t tensor) {
  return {{.left = {.begin = 0, .end = num_elements(left.tensors()[tensor])}, .right_begin = 0}};
}

}  // namespace

std::span<const CaseSuite> suites() {
  static constexpr CaseSuite kSuites[] = {
      {.suite = "parity",
       .name = "edges",
       .help = "counts around the edges of a four, a warp, a block and a task, with extra rounds",
       .count_by = "steps",
       .num_cases = std::ssize(kEdges) * std::ssize(kSteps),
       .workload = parity_case,
       .arms = kParityArms},
      {.suite = "values",
       .name = "drawn",
       .help = "drawn counts of elements against the reference",
       .count_by = "steps",
       .num_cases = kDrawn,
       .workload = value_case,
       .arms = kValueArms,
       .against_reference = true},
  };
  return kSuites;
}

std::span<const Invariance> invariances() {
  static constexpr Invariance kInvariances[] = {
      {.name = "prefix_equals_whole",
       .help = "the first elements of a longer call are those of a shorter one",
       .num_pairs = 5,
       .pair = prefix_equals_whole,
       .matched = matched_prefix},
  };
  return kInvariances;
}

}  // namespace assay::kernels::calibration
