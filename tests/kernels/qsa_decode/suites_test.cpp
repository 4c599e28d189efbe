#include "kernels/qsa_decode/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace assay::kernels::qsa_decode {
namespace {

std::int64_t num_cases(std::string_view suite) {
  std::int64_t count = 0;
  for (const CaseSuite& item : suites()) {
    count += item.suite == suite ? item.num_cases : 0;
  }
  return count;
}

TEST(Suites, ParityHasItsCasesAndEachOfItsOwnFormat) {
  EXPECT_EQ(num_cases("parity"), 1'168);
  const std::map<std::string_view, std::int64_t> counts = {
      {"fp16", 290}, {"int8", 291}, {"q4_0", 294}, {"k8v4", 293}};
  for (const CaseSuite& item : suites()) {
    if (item.suite != "parity") {
      continue;
    }
    EXPECT_EQ(item.num_cases, counts.at(item.name));
    for (std::int64_t index = 0; index < item.num_cases; ++index) {
      const Workload workload = item.workload(index);
      ASSERT_EQ(std::ranges::find(workload.axes, "kv", &Setting::first)->second, item.name);
    }
  }
}

TEST(Suites, SubsetHasSixtyFourCasesAgainstTheReference) {
  EXPECT_EQ(num_cases("subset"), 64);
  const auto subset = std::ranges::find(suites(), "subset", &CaseSuite::suite);
  EXPECT_TRUE(subset->against_reference);
}

TEST(Suites, NamedCoversEveryNamedWorkloadOnce) {
  // Three of the serving shapes are also rows of the window table.
  EXPECT_EQ(num_cases("named"), std::ssize(named_workloads()) - 3);
  EXPECT_EQ(num_cases("additions"), 4 * 29);
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
