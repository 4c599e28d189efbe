#include "kernels/tree_attention/workloads.h"

#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/plan.h"
#include "kernels/tree_attention/problem.h"
#include "tests/kernels/tree_attention/made_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace assay::kernels::tree_attention {
namespace {

// What a cpu computes for a call: products of a query head with a key, dim 128 counting once.
std::int64_t cost_of(const Workload& workload) {
  const auto problem = make_problem(workload);
  std::int64_t num_keys = 0;
  for (const std::int32_t keys : static_cast<const ViewProblem&>(*problem).row_keys()) {
    num_keys += keys;
  }
  return num_keys * shape_of(*problem).num_heads * shape_of(*problem).dim / 128;
}

bool has_cpu_arms(const InvariancePair& pair) {
  return pair.left_arm.empty() || pair.left_arm.starts_with("model_sm_90");
}

TEST(NamedWorkloads, AreTheSeventeenAndValid) {
  ASSERT_EQ(named_workloads().size(), 17U);
  for (const NamedWorkload& named : named_workloads()) {
    std::vector<Setting> axes(named.axes.begin(), named.axes.end());
    EXPECT_TRUE(validate(workload_with(axes)).ok()) << named.name;
  }
}

TEST(NamedWorkloads, MoveTheBytesOfTheirTable) {
  const std::map<std::string_view, double> megabytes = {{"t1", 1.08},
                                                        {"t2", 19.4},
                                                        {"t3", 8.60},
                                                        {"t4", 67.1},
                                                        {"t5", 67.3},
                                                        {"t6", 269},
                                                        {"t7", 537},
                                                        {"t8", 269},
                                                        {"t9", 68.9},
                                                        {"t10", 138},
                                                        {"t11", 2'151},
                                                        {"t12", 269},
                                                        {"t13", 544},
                                                        {"t14", 691},
                                                        {"t15", 537},
                                                        {"t16", 1'075},
                                                        {"t17", 323}};
  for (const NamedWorkload& named : named_workloads()) {
    std::vector<Setting> axes(named.axes.begin(), named.axes.end());
    const double expected = megabytes.at(named.name);
    const double found = static_cast<double>(problem_with(axes)->min_bytes()) / 1e6;
    EXPECT_NEAR(found, expected, 0.005 * expected) << named.name;
  }
}

TEST(Suites, HaveTheirCases) {
  std::map<std::string, std::int64_t> counts;
  for (const CaseSuite& suite : suites()) {
    counts[std::string(suite.suite)] += suite.num_cases;
    EXPECT_EQ(suite.against_reference, suite.suite == "values") << suite.name;
  }
  EXPECT_EQ(counts["values"], 194);
  EXPECT_EQ(counts["parity"], 58);
  EXPECT_EQ(counts["named"], 7);
}

TEST(Suites, CoverEveryChoiceOfEveryAxisThatDescribesACall) {
  std::map<std::string, std::set<std::string>> seen;
  for (const CaseSuite& suite : suites()) {
    for (std::int64_t index = 0; index < suite.num_cases; ++index) {
      for (const auto& [name, value] : suite.workload(index).axes) {
        seen[name].insert(value);
      }
    }
  }
  for (const AxisInfo& axis : axes()) {
    if (axis.name != "view") {
      for (const std::string_view choice : axis.choices) {
        EXPECT_TRUE(seen[std::string(axis.name)].contains(std::string(choice)))
            << axis.name << "=" << choice;
      }
    }
  }
}

TEST(Suites, EveryCaseIsValid) {
  for (const CaseSuite& suite : suites()) {
    for (std::int64_t index = 0; index < suite.num_cases; ++index) {
      const absl::Status status = validate(suite.workload(index));
      EXPECT_TRUE(status.ok()) << suite.name << " " << index << ": " << status.message();
    }
  }
}

TEST(Invariances, HaveUniqueNamesAndPairs) {
  std::set<std::string_view> names;
  for (const Invariance& item : invariances()) {
    EXPECT_TRUE(names.insert(item.name).second) << item.name;
    EXPECT_GT(item.num_pairs, 0) << item.name;
    std::set<std::string> pairs;
    for (std::int64_t index = 0; index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      EXPECT_TRUE(pairs.insert(pair.name + pair.left_arm + pair.right_arm).second) << pair.name;
      EXPECT_TRUE(validate(pair.left).ok()) << item.name << " " << pair.name;
      EXPECT_TRUE(validate(pair.right).ok()) << item.name << " " << pair.name;
      EXPECT_EQ(pair.left_arm.empty(), pair.right_arm.empty());
      EXPECT_TRUE(pair.left.axes != pair.right.axes || pair.left_arm != pair.right_arm ||
                  item.num_repeats > 1)
          << item.name << " " << pair.name;
    }
  }
}

TEST(Invariances, CompareSomethingInEveryPair) {
  for (const Invariance& item : invariances()) {
    for (std::int64_t index = 0; index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      const auto left = make_problem(pair.left);
      const auto right = make_problem(pair.right);
      for (const Tensor tensor : {kOut, kResult, kPartialM, kPartialL, kPartialO}) {
        const std::vector<RangePair> ranges = item.matched(*left, *right, tensor);
        ASSERT_FALSE(ranges.empty()) << item.name << " " << pair.name;
        // Only what both sides must write.
        for (const RangePair& range : ranges) {
          const auto is_live = [&](const Problem& problem, std::int64_t begin, std::int64_t end) {
            return std::ranges::any_of(problem.live(tensor), [&](const ElementRange& live) {
              return live.begin <= begin && end <= live.end;
            });
          };
          const std::int64_t size = range.left.end - range.left.begin;
          EXPECT_TRUE(is_live(*left, range.left.begin, range.left.end))
              << item.name << " " << pair.name;
          EXPECT_TRUE(is_live(*right, range.right_begin, range.right_begin + size))
              << item.name << " " << pair.name;
        }
      }
    }
  }
}

TEST(Invariances, SerialPairsMatchEveryRowOfTheTree) {
  const auto found = std::ranges::find(invariances(), "node_equals_serial", &Invariance::name);
  const InvariancePair pair = found->pair(4);
  const auto left = make_problem(pair.left);
  const auto right = make_problem(pair.right);
  std::int64_t num_matched = 0;
  for (const RangePair& range : matched_rows(*left, *right, kOut)) {
    num_matched += range.left.end - range.left.begin;
  }
  EXPECT_EQ(num_matched, num_elements(left->tensors()[kOut]));
  EXPECT_EQ(shape_of(*right).num_streams, shape_of(*left).num_rows);
}

// A step of the tensor-core model takes about 5 ns an output on one of two threads, and a product
// of a head with a key takes dim / 8 of them.
TEST(Checks, StayWithinTheirTimeOnTwoProcessors) {
  constexpr double kSecondsPerProduct = 16 * 5e-9 / 2;
  double cases = 0;
  for (const CaseSuite& suite : suites()) {
    const double num_calls = suite.suite == "parity" ? 4 : 1;
    const double slowness = suite.name == "portable" ? 10 : 1;
    for (std::int64_t index = 0; index < suite.num_cases; ++index) {
      cases += num_calls * slowness * static_cast<double>(cost_of(suite.workload(index)));
    }
  }
  double pairs = 0;
  for (const Invariance& item : invariances()) {
    for (std::int64_t index = 0; item.arms.empty() && index < item.num_pairs; ++index) {
      const InvariancePair pair = item.pair(index);
      if (has_cpu_arms(pair)) {
        pairs += static_cast<double>(cost_of(pair.left));
        pairs += static_cast<double>(item.num_repeats * cost_of(pair.right));
      }
    }
  }
  EXPECT_LT(cases * kSecondsPerProduct, 30);
  EXPECT_LT(pairs * kSecondsPerProduct, 30);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
