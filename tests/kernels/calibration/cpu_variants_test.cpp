#include "kernels/calibration/cpu_variants.h"

#include "kernels/calibration/contract.h"
#include "kernels/calibration/operator.h"
#include "tests/kernels/calibration/model.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels::calibration {
namespace {

// Bits against the rounds of the contract; the empty string where all are right.
std::string first_wrong(const CpuTensors& tensors, const CpuTensors& inputs, std::uint32_t steps) {
  if (tensors.bytes.empty()) {
    return "the call failed";
  }
  const std::vector<std::uint32_t> x = words_of(inputs.bytes[kX]);
  const std::vector<std::uint32_t> y = words_of(tensors.bytes[kY]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != word_after(x[i], steps)) {
      return "y[" + std::to_string(i) + "]";
    }
  }
  return "";
}

TEST(CpuVariants, HaveTheBitsOfTheContractAtEveryEdge) {
  for (const char* elements : {"1", "3", "4", "5", "255", "1027", "4096", "65537", "300001"}) {
    for (const char* steps : {"0", "1", "2", "17"}) {
      const Workload workload =
          make_workload(calibration(), {{"elements", elements}, {"steps", steps}}, 3);
      const CpuTensors inputs = make_tensors(calibration(), workload);
      for (const CpuVariant& row : cpu_variants()) {
        for (const char* threads : {"1", "2", "5"}) {
          const CpuTensors found =
              run_variant(calibration(), workload, row.name, {{"threads", threads}});
          EXPECT_EQ(first_wrong(found, inputs, static_cast<std::uint32_t>(std::stoul(steps))), "")
              << row.name << " elements=" << elements << " steps=" << steps;
        }
      }
    }
  }
}

TEST(CpuVariants, ExtraRoundsLeaveTheBitsAlone) {
  const Workload workload =
      make_workload(calibration(), {{"elements", "1027"}, {"steps", "1000"}}, 5);
  const CpuTensors inputs = make_tensors(calibration(), workload);
  for (const CpuVariant& row : cpu_variants()) {
    for (const char* extra : {"0", "1", "20", "1000"}) {
      const CpuTensors found = run_variant(calibration(), workload, row.name, {{"extra", extra}});
      EXPECT_EQ(first_wrong(found, inputs, 1'000), "") << row.name << " extra=" << extra;
    }
  }
}

TEST(CpuVariants, SayWhichKernelRan) {
  for (const CpuVariant& row : cpu_variants()) {
    CpuTensors tensors = make_tensors(calibration(), make_workload(calibration(), {}));
    Trace trace;
    ASSERT_TRUE(run_stages(row.stages, make_parameters(row.parameters, {}), &tensors, &trace).ok());
    EXPECT_EQ(trace.kernels, std::vector<std::string>{std::string(row.name) + "_mix"});
  }
}

TEST(CpuMutants, ShowOnTheirWorkload) {
  for (const CpuMutant& mutant : cpu_mutants()) {
    std::vector<Setting> axes;
    for (const auto& [name, value] : mutant.axes) {
      axes.emplace_back(name, value);
    }
    const Workload workload = make_workload(calibration(), axes);
    const CpuTensors expected = run_variant(calibration(), workload, mutant.variant, {});
    CpuTensors found = make_tensors(calibration(), workload);
    ASSERT_TRUE(run_stages(mutant.stages, make_parameters(mutant.parameters, {}), &found).ok());
    EXPECT_EQ(first_difference(expected, found), "y") << mutant.name;
  }
}

}  // namespace
}  // namespace assay::kernels::calibration
