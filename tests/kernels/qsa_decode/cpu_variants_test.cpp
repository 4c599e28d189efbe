#include "kernels/qsa_decode/cpu_variants.h"

#include "kernels/qsa_decode/contract.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace assay::kernels::qsa_decode {
namespace {

// The portable arithmetic is slow under a sanitizer, which sees one case of each format.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kCaseStep = 21;
#else
constexpr std::int64_t kCaseStep = 5;
#endif

const Operator& op() {
  return *find_operator("qsa_decode");
}

const CaseSuite& suite(std::string_view name) {
  return *std::ranges::find(op().suites, name, &CaseSuite::suite);
}

bool has_avx2() {
  const CpuVariant& row = cpu_variants()[0];
  return row.available(make_parameters(row.parameters, {{"isa", "avx2"}})).ok();
}

std::vector<std::string> isas() {
  return has_avx2() ? std::vector<std::string>{"portable", "avx2"}
                    : std::vector<std::string>{"portable"};
}

TEST(CpuVariants, RefuseAPageOutsideThePoolBeforeTheyLaunch) {
  CpuTensors tensors = make_tensors(op(), make_workload(op(), {{"width", "64"}, {"cap", "64"}}));
  const std::int32_t page = 10'240;
  std::memcpy(tensors.bytes[kPageTable].data() + 4, &page, sizeof(page));
  const CpuVariant& row = cpu_variants()[0];
  const absl::Status status = run_stages(row.stages, make_parameters(row.parameters, {}), &tensors);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "page_table[1]: 10240 is outside the pool of 10240 pages");
  EXPECT_EQ(tensors.bytes[kM].front(), kPoison);
}

TEST(CpuVariants, RefuseASelectedCellOutsideTheTable) {
  CpuTensors tensors = make_tensors(op(), make_workload(op(), {{"width", "64"}, {"cap", "64"}}));
  const std::int32_t cell = -1;
  std::memcpy(tensors.bytes[kIds].data() + 12, &cell, sizeof(cell));
  const CpuVariant& row = cpu_variants()[0];
  const absl::Status status = run_stages(row.stages, make_parameters(row.parameters, {}), &tensors);
  EXPECT_EQ(status.message(), "ids[0, 3]: -1 is outside the 40960 cells");
}

TEST(CpuVariants, KeepTheBaselinesBytesOnTheSubset) {
  const CaseSuite& cases = suite("subset");
  std::int64_t num_nonzero = 0;
  // A step of five meets each format and most rows of the table.
  for (std::int64_t index = 0; index < cases.num_cases; index += kCaseStep) {
    CpuTensors tensors = make_tensors(op(), cases.workload(index));
    const auto run = [&](std::string_view variant, const std::vector<Setting>& parameters) {
      return run_variant_on(op(), &tensors, variant, parameters);
    };
    const CpuTensors baseline = run("one_cell", {{"isa", isas().back()}});
    num_nonzero += std::ranges::count_if(baseline.bytes[kOut],
                                         [](std::byte value) { return value != std::byte{}; });
    for (const std::string& isa : isas()) {
      for (const std::string steps : {"1", "2", "4", "8"}) {
        const CpuTensors other =
            run("two_cell", {{"isa", isa}, {"threads", "1"}, {"cells_per_step", steps}});
        EXPECT_EQ(first_difference(baseline, other), "") << isa << " " << steps << " " << index;
      }
      const CpuTensors lanes = run("lane_cell", {{"isa", isa}, {"threads", "1"}});
      EXPECT_EQ(first_difference(baseline, lanes), "") << isa << " lane_cell " << index;
      const CpuTensors again =
          run("one_cell", {{"isa", isa}, {"merge", "bounded"}, {"threads", "3"}});
      EXPECT_EQ(first_difference(baseline, again), "") << isa << " one_cell " << index;
    }
  }
  EXPECT_GT(num_nonzero, 0);
}

TEST(CpuVariants, StayWithinTheToleranceOnTheSubset) {
  const CaseSuite& cases = suite("subset");
  for (std::int64_t index = 1; index < cases.num_cases; index += 7) {
    const CpuTensors baseline = run_variant(op(), cases.workload(index), "one_cell", {});
    EXPECT_LE(tolerance_used(baseline), 1.0) << index;
    const CpuTensors drifted = run_variant(op(), cases.workload(index), "hw_exp", {});
    EXPECT_LE(tolerance_used(drifted), 1.0) << index;
  }
}

TEST(CpuVariants, DifferFromTheBaselineOnlyWhereTheFamilySaysSo) {
  const Workload workload = make_workload(op(), {{"width", "2051"}, {"cap", "2112"}});
  const CpuTensors baseline = run_variant(op(), workload, "one_cell", {});
  for (const CpuVariant& row : cpu_variants()) {
    const CpuTensors other = run_variant(op(), workload, row.name, {});
    EXPECT_EQ(first_difference(baseline, other).empty(), row.family == kBaselineFamily) << row.name;
  }
}

TEST(CpuVariants, WriteEveryLiveElementAndNothingOfThePoison) {
  const Workload workload =
      make_workload(op(), {{"width", "700"}, {"cap", "2112"}, {"n_q", "2"}, {"kv", "k8v4"}});
  for (const CpuVariant& row : cpu_variants()) {
    const CpuTensors first = run_variant(op(), workload, row.name, {}, kPoison);
    const CpuTensors second = run_variant(op(), workload, row.name, {}, kOtherPoison);
    EXPECT_EQ(first_difference(first, second), "") << row.name;
  }
}

TEST(CpuVariants, NameTheKernelThatRan) {
  const CpuVariant& row = cpu_variants()[1];
  CpuTensors tensors = make_tensors(op(), make_workload(op(), {{"width", "64"}, {"cap", "64"}}));
  Trace trace;
  const absl::Status status = run_stages(
      row.stages, make_parameters(row.parameters, {{"isa", "portable"}}), &tensors, &trace);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(trace.kernels,
            (std::vector<std::string>{"two_cell_chunk_portable", "bounded_merge_portable"}));
}

TEST(CpuMutants, AreFourteenAndEachIsSeenByItsOwnWorkload) {
  EXPECT_EQ(cpu_mutants().size(), 14U);
  for (const CpuMutant& mutant : cpu_mutants()) {
    std::vector<Setting> axes;
    for (const auto& [name, value] : mutant.axes) {
      axes.emplace_back(name, value);
    }
    const Workload workload = make_workload(op(), axes);
    const CpuTensors baseline = run_variant(op(), workload, "one_cell", {});
    CpuTensors mutated = make_tensors(op(), workload);
    const absl::Status status =
        run_stages(mutant.stages, make_parameters(mutant.parameters, {}), &mutated);
    ASSERT_TRUE(status.ok()) << mutant.name << " " << status;
    EXPECT_NE(first_difference(baseline, mutated), "") << mutant.name;
  }
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
