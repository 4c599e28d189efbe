#include "profiler/module_table.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace assay::profiler {
namespace {

int shape(const assay_workload* /*workload*/,
          std::int64_t* /*extents*/,
          std::size_t* /*rank*/,
          assay_error* /*error*/) {
  return 0;
}

int launch(const assay_call* /*call*/) {
  return 0;
}

// A table that is right, for each test to spoil in one place.
class ModuleTable : public testing::Test {
 protected:
  ModuleTable() {
    axes_[0] = {sizeof(assay_axis), "n", nullptr, 4, 1, 8, nullptr, 0};
    axes_[1] = {sizeof(assay_axis), "kind", nullptr, 1, 0, 0, choices_.data(), choices_.size()};
    for (assay_tensor& tensor : tensors_) {
      tensor.size = sizeof tensor;
      tensor.shape = shape;
    }
    tensors_[0].name = "x";
    tensors_[0].fill = ASSAY_FILL_NORMAL;
    tensors_[1].name = "out";
    tensors_[1].role = ASSAY_OUTPUT;
    stage_.size = sizeof stage_;
    stage_.name = "only";
    stage_.launch_cpu = launch;
    for (assay_variant& variant : variants_) {
      variant.size = sizeof variant;
      variant.stages = &stage_;
      variant.num_stages = 1;
    }
    variants_[0].name = "plain";
    variants_[1].name = "fast";
    op_.size = sizeof op_;
    op_.name = "scale";
    op_.axes = axes_.data();
    op_.num_axes = axes_.size();
    op_.tensors = tensors_.data();
    op_.num_tensors = tensors_.size();
    op_.cpu_variants = variants_.data();
    op_.num_cpu_variants = variants_.size();
    workload_ = {sizeof workload_, "small", nullptr, values_.data()};
    op_.workloads = &workload_;
    op_.num_workloads = 1;
    table_ = {sizeof table_, ASSAY_MODULE_ABI, &op_, 1};
  }

  std::string refusal() const { return std::string(read_module_table(&table_).status().message()); }

  std::array<const char*, 2> choices_ = {"ramp", "zeros"};
  std::array<std::int64_t, 2> values_ = {8, 0};
  std::array<assay_axis, 2> axes_ = {};
  std::array<assay_tensor, 2> tensors_ = {};
  assay_stage stage_ = {};
  std::array<assay_variant, 2> variants_ = {};
  assay_named_workload workload_ = {};
  assay_operator op_ = {};
  assay_module_table table_ = {};
};

TEST_F(ModuleTable, RefusesNoTableAndAnotherAbi) {
  EXPECT_FALSE(read_module_table(nullptr).ok());
  table_.abi_version = 7;
  EXPECT_EQ(refusal(), "made for ABI 7 of kernels/module.h, this is 1; build it again");
}

TEST_F(ModuleTable, RefusesStructsOfAnotherSize) {
  tensors_[0].size = 8;
  EXPECT_NE(refusal().find("operators[0].tensors[0].size: is 8, this assay knows "),
            std::string::npos)
      << refusal();
  tensors_[0].size = sizeof(assay_tensor);
  tensors_[1].size = 0;
  EXPECT_EQ(refusal(), "operators[0].tensors[1].size: is not that of the first row");
}

TEST_F(ModuleTable, RefusesNamesThatAreNotPlain) {
  variants_[1].name = "two words";
  EXPECT_EQ(refusal(), "operators[0].cpu_variants[1].name: must be 1 to 64 letters, digits or '_'");
  variants_[1].name = nullptr;
  EXPECT_EQ(refusal(), "operators[0].cpu_variants[1].name: must not be null");
}

TEST_F(ModuleTable, RefusesANameThatIsUsedTwice) {
  variants_[1].name = "plain";
  EXPECT_EQ(refusal(), "operators[0].cpu_variants[1].name: `plain` is used twice");
}

TEST_F(ModuleTable, RefusesTheNamesOfSums) {
  stage_.name = "total";
  EXPECT_EQ(refusal(), "operators[0].cpu_variants[0].stages[0].name: `total` is used twice");
}

TEST_F(ModuleTable, RefusesTextThatIsNotAscii) {
  variants_[0].idea = "two\nlines";
  EXPECT_EQ(refusal(),
            "operators[0].cpu_variants[0].idea: must be printable ASCII of at most 200 bytes");
}

TEST_F(ModuleTable, RefusesCallbacksThatAreNotThere) {
  stage_.launch_cpu = nullptr;
  EXPECT_EQ(refusal(), "operators[0].cpu_variants[0].stages[0].launch_cpu: must not be null");
  stage_.launch_cpu = launch;
  tensors_[0].fill = ASSAY_FILL_CALLBACK;
  EXPECT_EQ(refusal(), "operators[0].tensors[0].fill_bytes: must not be null");
  tensors_[0].shape = nullptr;
  EXPECT_EQ(refusal(), "operators[0].tensors[0].shape: must not be null");
}

TEST_F(ModuleTable, RefusesNumbersThatStandForNothing) {
  tensors_[0].dtype = 9;
  EXPECT_EQ(refusal(), "operators[0].tensors[0].dtype: 9 is none");
  tensors_[0].dtype = ASSAY_F16;
  tensors_[1].role = -1;
  EXPECT_EQ(refusal(), "operators[0].tensors[1].role: -1 is none");
  tensors_[1].role = ASSAY_SCRATCH;
  EXPECT_EQ(refusal(), "operators[0].tensors: must have an output");
}

TEST_F(ModuleTable, RefusesValuesOutsideOfTheirAxis) {
  axes_[0].default_value = 9;
  EXPECT_EQ(refusal(), "operators[0].axes[0].default_value: must be in [1, 8]");
  axes_[0].default_value = 1;
  values_[1] = 2;
  EXPECT_EQ(refusal(), "operators[0].workloads[0].values[1]: must be in [0, 1]");
}

TEST_F(ModuleTable, RefusesAModuleWithoutOperators) {
  table_.num_operators = 0;
  EXPECT_EQ(refusal(), "num_operators: must be in [1, 16]");
}

TEST_F(ModuleTable, ReadsARightTable) {
  const auto operators = read_module_table(&table_);
  ASSERT_TRUE(operators.ok()) << operators.status();
  ASSERT_EQ(operators->size(), 1U);
  EXPECT_EQ((*operators)[0].axes[1].max, 1);
  EXPECT_EQ((*operators)[0].cpu_variants.size(), 2U);
  EXPECT_TRUE((*operators)[0].cuda_variants.empty());
}

}  // namespace
}  // namespace assay::profiler
