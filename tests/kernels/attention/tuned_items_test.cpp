#include "kernels/attention/tuned_items.h"

#include "kernels/block_attention/contract.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tuned/tuned.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace assay::kernels::attention {
namespace {

bool is_block(const assay_tuned::Entry& entry) {
  return entry.operator_name == "block_attention";
}

// As a call gets it: from the problem.
TunedItems tuned(const assay_tuned::Entry& entry, const std::vector<Setting>& axes) {
  const Operator& op = *find_operator(entry.operator_name);
  const std::unique_ptr<Problem> problem = op.make_problem(make_workload(op, axes));
  const Call call = {.problem = problem.get(), .parameters = {}};
  return is_block(entry) ? block_attention::tuned_of(call) : tree_attention::tuned_of(call);
}

std::vector<const assay_tuned::Entry*> entries() {
  std::vector<const assay_tuned::Entry*> found;
  for (const assay_tuned::Entry& entry : assay_tuned::kEntries) {
    if (entry.variant == "warpgroup") {
      found.push_back(&entry);
    }
  }
  return found;
}

std::vector<Setting> axes_of(const assay_tuned::Entry& entry) {
  std::vector<Setting> axes;
  for (const assay_tuned::Axis& axis : entry.workload) {
    axes.emplace_back(axis.name, axis.value);
  }
  return axes;
}

TunedItems items_of(const assay_tuned::Entry& entry) {
  return {.pairs = static_cast<std::int32_t>(assay_tuned::parameter(&entry, "pairs", 0)),
          .stages = static_cast<std::int32_t>(assay_tuned::parameter(&entry, "stages", 0))};
}

std::string value_of(const std::vector<Setting>& axes, std::string_view name) {
  return std::ranges::find(axes, name, &Setting::first)->second;
}

void add_one(std::vector<Setting>& axes, std::string_view name) {
  auto axis = std::ranges::find(axes, name, &Setting::first);
  axis->second = std::to_string(std::stoll(axis->second) + 1);
}

TEST(TunedItems, AreTheRulesWhereTheTableHasNoSuchWorkload) {
  const Operator& op = *find_operator("tree_attention");
  EXPECT_EQ(tuned_items(op.name, "rows", make_workload(op, {{"heads", "3"}, {"kv_heads", "1"}})),
            TunedItems());
  EXPECT_EQ(tuned_items("no_such_operator", "rows", make_workload(op, {})), TunedItems());
}

TEST(TunedItems, AreTheRulesWhereANeighbourHasOtherRows) {
  int num_tuned = 0;
  for (const assay_tuned::Entry* entry : entries()) {
    const bool is_tuned = items_of(*entry) != TunedItems();
    num_tuned += is_tuned ? 1 : 0;
    std::vector<Setting> axes = axes_of(*entry);
    const std::string_view rows = is_block(*entry) ? "width" : "rows";
    add_one(axes, rows);
    const Operator& op = *find_operator(entry->operator_name);
    const Workload workload = {.axes = axes, .seed = 0};
    // Another entry may be of that many rows.
    const assay_tuned::Entry* found = find_tuned(op.name, "warpgroup", workload);
    if (op.validate(workload).ok() && found != nullptr &&
        value_of(axes_of(*found), rows) != value_of(axes, rows)) {
      EXPECT_EQ(tuned(*entry, axes), TunedItems()) << entry->provenance;
    }
  }
  EXPECT_GT(num_tuned, 0) << "the table leaves everything to the rules";
}

TEST(TunedItems, AreTheTablesForItsWorkloadsAndLongerOnes) {
  for (const assay_tuned::Entry* entry : entries()) {
    std::vector<Setting> axes = axes_of(*entry);
    EXPECT_EQ(tuned(*entry, axes), items_of(*entry)) << entry->provenance;
    add_one(axes, is_block(*entry) ? "context" : "committed");
    EXPECT_EQ(tuned(*entry, axes), items_of(*entry)) << entry->provenance;
  }
}

}  // namespace
}  // namespace assay::kernels::attention
