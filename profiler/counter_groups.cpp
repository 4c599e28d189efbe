#include "profiler/counter_groups.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace assay::profiler {
namespace {

constexpr std::size_t kMostMetrics = 5;

struct Group {
  std::string_view name;
  std::array<std::string_view, kMostMetrics> metrics;  // the rest is empty
};

constexpr std::array<Group, 4> kGroups = {{
    {"dram",
     {"dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"l2", {"lts__t_bytes.sum", "lts__t_sector_hit_rate.pct"}},
    // Floating point work of any kind: without the other units the tensor cores' share says little.
    {"tensor",
     {"sm__ops_path_tensor_src_bf16_dst_fp32.sum",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"}},
    {"occupancy", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
}};

void add(std::string_view name, std::string_view group, std::vector<WantedMetric>& wanted) {
  const auto found = std::ranges::find(wanted, name, &WantedMetric::name);
  if (name.empty()) {
    return;
  }
  if (found == wanted.end()) {
    wanted.push_back({.name = std::string(name), .group = std::string(group)});
  } else if (group.empty()) {
    found->group.clear();
  }
}

absl::Status add_word(const std::string& word, std::vector<WantedMetric>& wanted) {
  if (word.find("__") != std::string::npos) {
    add(word, "", wanted);
    return absl::OkStatus();
  }
  const auto group = std::ranges::find(kGroups, word, &Group::name);
  if (group == kGroups.end()) {
    std::string names;
    for (const Group& known : kGroups) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(known.name));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "counters: `", word, "` is neither a group (", names, ") nor a metric's name"));
  }
  for (const std::string_view metric : group->metrics) {
    add(metric, group->name, wanted);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<WantedMetric>> expand_counters(std::span<const std::string> counters) {
  std::vector<WantedMetric> wanted;
  for (const std::string& word : counters) {
    ASSAY_RETURN_IF_ERROR(add_word(word, wanted));
  }
  add(kDurationMetric, "duration", wanted);
  return wanted;
}

absl::StatusOr<std::vector<std::string>> keep_available(
    std::span<const WantedMetric> wanted,
    const std::function<std::string(const std::string& name)>& explain) {
  std::vector<std::string> names;
  std::set<std::string> groups;
  std::set<std::string> answered;
  for (const WantedMetric& metric : wanted) {
    const std::string trouble = explain(metric.name);
    if (!trouble.empty() && metric.group.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("counters: `", metric.name, "` ", trouble));
    }
    groups.insert(metric.group);
    if (trouble.empty()) {
      answered.insert(metric.group);
      names.push_back(metric.name);
    }
  }
  for (const std::string& group : groups) {
    if (!answered.contains(group)) {
      return absl::UnavailableError(
          absl::StrCat("counters: this chip has no metric of the group `", group, "`"));
    }
  }
  return names;
}

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> names,
                                       std::size_t most) {
  const auto num_common = [name](const std::string& other) {
    return std::ranges::mismatch(name, other).in1 - name.begin();
  };
  std::vector<std::string> nearest(names.begin(), names.end());
  std::ranges::sort(nearest, [&](const std::string& a, const std::string& b) {
    return std::tuple(-num_common(a), a.size(), std::string_view(a)) <
           std::tuple(-num_common(b), b.size(), std::string_view(b));
  });
  nearest.resize(std::min(most, nearest.size()));
  return nearest;
}

}  // namespace assay::profiler
