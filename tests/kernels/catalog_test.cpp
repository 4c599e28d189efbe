#include "kernels/operator.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace assay::kernels {
namespace {

TEST(Catalogue, DoesNotFindAnUnknownOperator) {
  EXPECT_EQ(find_operator("no_such_operator"), nullptr);
}

TEST(Catalogue, IsSortedAndFindsEachOperatorByName) {
  EXPECT_TRUE(std::ranges::is_sorted(catalogue(), {}, [](const Operator* op) { return op->name; }));
  for (const Operator* op : catalogue()) {
    EXPECT_EQ(find_operator(op->name), op);
  }
}

template <class Rows>
void expect_unique_names(const Rows& rows) {
  std::set<std::string_view> names;
  for (const auto& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(Catalogue, NamesAreUniqueAndDefaultsValid) {
  for (const Operator* op : catalogue()) {
    expect_unique_names(op->cpu_variants);
    expect_unique_names(op->cpu_mutants);
    expect_unique_names(op->invariances);
    expect_unique_names(op->workloads);
    expect_unique_names(op->axes);
    EXPECT_EQ(op->cpu_variants.front().family, kBaselineFamily);
    for (const CpuVariant& row : op->cpu_variants) {
      EXPECT_TRUE(complete_settings(row.parameters, {}).ok()) << row.name;
      EXPECT_LE(row.parameters.size(), LaunchParameters().values.size());
      EXPECT_TRUE(row.available == nullptr ||
                  row.available(make_parameters(row.parameters, {})).ok())
          << row.name;
      // A cpu has no architecture that a promise could be made for.
      const bool is_of_family = row.family == kBaselineFamily && row.bits_domain.empty();
      EXPECT_FALSE(is_of_family && op->bits_domain == kArchitecture) << row.name;
    }
    for (const CpuMutant& row : op->cpu_mutants) {
      EXPECT_NE(std::ranges::find(op->cpu_variants, row.variant, &CpuVariant::name),
                op->cpu_variants.end())
          << row.name;
    }
  }
}

TEST(Catalogue, NamedWorkloadsAreValid) {
  for (const Operator* op : catalogue()) {
    for (const NamedWorkload& named : op->workloads) {
      std::vector<Setting> axes;
      for (const auto& [name, value] : named.axes) {
        axes.emplace_back(name, value);
      }
      EXPECT_TRUE(op->validate(make_workload(*op, axes)).ok()) << named.name;
    }
  }
}

TEST(Catalogue, EveryCaseOfEverySuiteIsValidAndUnlikeTheOthers) {
  for (const Operator* op : catalogue()) {
    for (const CaseSuite& suite : op->suites) {
      std::set<std::string> seen;
      for (std::int64_t index = 0; index < suite.num_cases; ++index) {
        const Workload workload = suite.workload(index);
        ASSERT_TRUE(op->validate(workload).ok()) << suite.suite << " " << index;
        std::string text = std::to_string(workload.seed);
        for (const auto& [name, value] : workload.axes) {
          text += " " + name + "=" + value;
        }
        EXPECT_TRUE(seen.insert(text).second) << suite.suite << " " << text;
      }
    }
  }
}

TEST(Catalogue, EveryPairOfEveryInvarianceIsValidAndHasANameOfItsOwn) {
  for (const Operator* op : catalogue()) {
    for (const Invariance& invariance : op->invariances) {
      EXPECT_FALSE(invariance.help.empty()) << invariance.name;
      EXPECT_GT(invariance.num_pairs, 0) << invariance.name;
      std::set<std::string> seen;
      for (std::int64_t index = 0; index < invariance.num_pairs; ++index) {
        const InvariancePair pair = invariance.pair(index);
        EXPECT_TRUE(seen.insert(pair.name).second) << invariance.name << " " << pair.name;
        for (const Workload& given : {pair.left, pair.right}) {
          const auto axes = complete_settings(op->axes, given.axes);
          ASSERT_TRUE(axes.ok()) << invariance.name << " " << pair.name << ": " << axes.status();
          const absl::Status valid = op->validate({.axes = *axes, .seed = given.seed});
          EXPECT_TRUE(valid.ok()) << invariance.name << " " << pair.name << ": " << valid;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
