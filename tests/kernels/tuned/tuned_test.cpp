// The checked-in table of launch parameters against the catalogue, whatever sweeps it is from.
#include "kernels/tuned/tuned.h"

#if ASSAY_HAS_CUDA
#include "kernels/cuda_operator.h"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::kernels {
namespace {

Workload workload_of(const assay_tuned::Entry& entry) {
  Workload workload;
  for (const assay_tuned::Axis& axis : entry.workload) {
    workload.axes.emplace_back(axis.name, axis.value);
  }
  return workload;
}

TEST(Tuned, FindsNothingForAnotherOperatorVariantOrWorkload) {
  const assay_tuned::Entry& entry = assay_tuned::kEntries[0];
  Workload workload = workload_of(entry);
  ASSERT_NE(find_tuned(entry.operator_name, entry.variant, workload), nullptr);
  EXPECT_EQ(find_tuned("no_such_operator", entry.variant, workload), nullptr);
  EXPECT_EQ(find_tuned(entry.operator_name, "no_such_variant", workload), nullptr);
  EXPECT_EQ(find_tuned(entry.operator_name, entry.variant, {}), nullptr);
  workload.axes.back().second = "no such value";
  EXPECT_EQ(find_tuned(entry.operator_name, entry.variant, workload), nullptr);
}

TEST(Tuned, EveryEntryIsFoundForAValidWorkloadOfItsOperator) {
  for (const assay_tuned::Entry& entry : assay_tuned::kEntries) {
    const std::string text(entry.provenance);
    EXPECT_EQ(entry.compute_capability, "9.0") << text;
    const Operator* op = find_operator(entry.operator_name);
    ASSERT_NE(op, nullptr) << text;
    const Workload workload = workload_of(entry);
    const auto complete = complete_settings(op->axes, workload.axes);
    ASSERT_TRUE(complete.ok()) << text << ": " << complete.status();
    EXPECT_EQ(*complete, workload.axes) << text << ": axes are missing or in another order";
    EXPECT_TRUE(op->validate(workload).ok()) << text;
    for (std::size_t i = 0; i < op->axes.size(); ++i) {
      EXPECT_EQ(entry.workload[i].is_number, op->axes[i].choices.empty()) << text;
    }
    const assay_tuned::Entry* found = find_tuned(entry.operator_name, entry.variant, workload);
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(workload_of(*found).axes, workload.axes) << text;
  }
}

#if ASSAY_HAS_CUDA
std::vector<Setting> settings_of(const assay_tuned::Entry& entry) {
  std::vector<Setting> settings;
  for (const assay_tuned::Setting& setting : entry.parameters) {
    settings.emplace_back(setting.name, setting.value);
  }
  return settings;
}

TEST(Tuned, EveryEntryIsAnArmOfACudaVariant) {
  for (const assay_tuned::Entry& entry : assay_tuned::kEntries) {
    const std::string text(entry.provenance);
    const Operator* op = find_operator(entry.operator_name);
    ASSERT_NE(op, nullptr) << text;
    const auto row = std::ranges::find(op->cuda->variants, entry.variant, &CudaVariant::name);
    ASSERT_NE(row, op->cuda->variants.end()) << text;
    const std::vector<Setting> settings = settings_of(entry);
    const auto complete = complete_settings(row->parameters, settings);
    ASSERT_TRUE(complete.ok()) << text << ": " << complete.status();
    EXPECT_EQ(*complete, settings) << text << ": parameters are missing or in another order";
    // The axis has it in its range, the launch refuses it.
    EXPECT_NE(assay_tuned::parameter(&entry, "stages", 0), 1) << text;
  }
}
#endif

}  // namespace
}  // namespace assay::kernels
