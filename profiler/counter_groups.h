// Which hardware counters stand for a word of ExperimentSpec.counters. Names differ between chips,
// so what a group asks for may be missing, and what a person wrote by its name may not.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// The kernel's duration in nanoseconds; counted always, last unless it is asked for.
inline constexpr std::string_view kDurationMetric = "gpu__time_duration.sum";

struct WantedMetric {
  std::string name;
  std::string group;  // which word asked for it; empty: it was asked for by name

  bool operator==(const WantedMetric&) const = default;
};

// Groups replaced by their metrics, each metric once, in the order of the first mention.
// INVALID_ARGUMENT lists the groups for a word that is none and has no `__`, as metrics have.
absl::StatusOr<std::vector<WantedMetric>> expand_counters(std::span<const std::string> counters);

// The names that the chip has. `explain(name)` is empty for those, else it says what is wrong with
// the name. INVALID_ARGUMENT for a name that somebody wrote, UNAVAILABLE for a group without any.
absl::StatusOr<std::vector<std::string>> keep_available(
    std::span<const WantedMetric> wanted,
    const std::function<std::string(const std::string& name)>& explain);

// At most `most` of `names`, those with the longest beginning in common with `name` first,
// then the shortest.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> names,
                                       std::size_t most);

}  // namespace assay::profiler
