#include "kernels/qsa_decode/tuned_launch.h"

#include "kernels/qsa_decode/contract.h"
#include "kernels/qsa_decode/problem.h"
#include "kernels/tuned/tuned.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::kernels::qsa_decode {
namespace {

const Operator& op() {
  return *find_operator("qsa_decode");
}

// As a call gets it: from the problem.
TunedLaunch tuned(TunedForm form, const Workload& workload) {
  const std::unique_ptr<Problem> problem = make_problem(workload);
  return tuned_of({.problem = problem.get(), .parameters = {}}, form);
}

TEST(TunedLaunch, IsTheDefaultsWhereTheTableHasNoSuchWorkload) {
  const Workload workload = make_workload(op(), {{"width", "1"}, {"cap", "1"}});
  for (const TunedForm form : {TunedForm::kTwoCell, TunedForm::kLaneCell}) {
    EXPECT_EQ(tuned(form, workload),
              (TunedLaunch{
                  .cells_per_step = 2, .merge_batch = 16, .merge_blocks = 1, .prefetch = false}));
  }
}

// An entry's own workload, and one that only it is near to.
TEST(TunedLaunch, IsTheTablesForItsWorkloadsAndTheirNeighbours) {
  int num_entries = 0;
  for (const assay_tuned::Entry& entry : assay_tuned::kEntries) {
    if (entry.operator_name != op().name) {
      continue;
    }
    ++num_entries;
    std::vector<Setting> axes;
    for (const assay_tuned::Axis& axis : entry.workload) {
      axes.emplace_back(axis.name, axis.value);
    }
    Workload workload = make_workload(op(), axes);
    const bool is_lane = entry.variant == "lane_cell";
    const TunedForm form = is_lane ? TunedForm::kLaneCell : TunedForm::kTwoCell;
    const TunedLaunch wanted = {
        .cells_per_step =
            static_cast<std::int32_t>(assay_tuned::parameter(&entry, "cells_per_step", 2)),
        .merge_batch = static_cast<std::int32_t>(assay_tuned::parameter(&entry, "merge_batch", 16)),
        .merge_blocks =
            static_cast<std::int32_t>(assay_tuned::parameter(&entry, "merge_blocks", 1)),
        .prefetch = assay_tuned::parameter(&entry, "prefetch", "off") == "l2"};
    EXPECT_EQ(tuned(form, workload), wanted) << entry.provenance;
    workload.seed = 7;
    EXPECT_EQ(tuned(form, workload), wanted) << entry.provenance;
    auto width = std::ranges::find(workload.axes, "width", &Setting::first);
    width->second = std::to_string(std::stoi(width->second) - 1);
    EXPECT_EQ(tuned(form, workload), wanted) << entry.provenance;
  }
  EXPECT_GT(num_entries, 0) << "the table has nothing of this operator";
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
