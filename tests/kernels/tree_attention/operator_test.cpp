#include "kernels/tree_attention/operator.h"

#include "kernels/tree_attention/problem.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

constexpr std::int64_t kMostProducts = 1'000'000;  // of a query head with a key, in a call

CpuTensors run_mutant(std::string_view name, const Workload& workload) {
  const std::span<const CpuMutant> mutants = tree_attention().cpu_mutants;
  const auto mutant = std::ranges::find(mutants, name, &CpuMutant::name);
  CpuTensors tensors = make_tensors(tree_attention(), workload);
  EXPECT_TRUE(run_stages(mutant->stages, make_parameters(mutant->parameters, {}), &tensors).ok());
  return tensors;
}

CpuTensors run_model(const Workload& workload, std::byte poison) {
  return run_variant(tree_attention(), workload, "model_sm_90", {}, poison);
}

bool is_small(const Workload& workload) {
  const auto problem = make_problem(workload);
  std::int64_t num_keys = 0;
  for (const std::int32_t keys : static_cast<const ViewProblem&>(*problem).row_keys()) {
    num_keys += keys;
  }
  const Shape& shape = static_cast<const TreeProblem&>(*problem).shape();
  return num_keys * shape.num_heads <= kMostProducts;
}

bool holds(const Invariance& item, const CpuTensors& left, const CpuTensors& right) {
  const std::span<const TensorSpec> specs = left.problem->tensors();
  for (std::size_t tensor = kOut; tensor <= kPartialO; ++tensor) {
    const std::int64_t size = size_bytes(specs[tensor].dtype);
    for (const RangePair& range : item.matched(*left.problem, *right.problem, tensor)) {
      if (std::memcmp(left.bytes[tensor].data() + range.left.begin * size,
                      right.bytes[tensor].data() + range.right_begin * size,
                      static_cast<std::size_t>((range.left.end - range.left.begin) * size)) != 0) {
        return false;
      }
    }
  }
  return true;
}

const Invariance& invariance(std::string_view name) {
  return *std::ranges::find(tree_attention().invariances, name, &Invariance::name);
}

TEST(Operator, SeesAMutantThatCutsPaths) {
  const Invariance& item = invariance("masked_equals_unmasked");
  const InvariancePair pair = item.pair(0);
  EXPECT_FALSE(
      holds(item, run_mutant("cuts_paths", pair.left), run_mutant("cuts_paths", pair.right)));
}

TEST(Operator, SeesAMutantThatReadsTheNeighboursCache) {
  const Invariance& item = invariance("alone_equals_batch");
  const InvariancePair pair = item.pair(0);
  EXPECT_FALSE(holds(
      item, run_mutant("reads_neighbour_cache", pair.left), run_model(pair.right, kOtherPoison)));
}

// The long pairs are left to the check itself.
TEST(Operator, KeepsItsBitsInTheSmallPairsOfEveryInvariance) {
  for (const Invariance& item : tree_attention().invariances) {
    for (std::int64_t index = 0; item.arms.empty() && index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      if (!pair.left_arm.empty() || !is_small(pair.left) || !is_small(pair.right)) {
        continue;
      }
      const CpuTensors left = run_model(pair.left, kPoison);
      const CpuTensors right = run_model(pair.right, kOtherPoison);
      EXPECT_TRUE(holds(item, left, right)) << item.name << ", " << pair.name;
    }
  }
}

TEST(Operator, AlarmsAboveWhatTheFormatsExplain) {
  EXPECT_EQ(tree_attention().tolerance_alarm, 0.7);
  EXPECT_EQ(tree_attention().bits_domain, kArchitecture);
  EXPECT_EQ(tree_attention().cpu_variants.front().bits_domain, "sm_90");
}

}  // namespace
}  // namespace assay::kernels::tree_attention
