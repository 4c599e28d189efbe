#include "kernels/block_attention/plan.h"
#include "kernels/block_attention/problem.h"
#include "kernels/block_attention/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace assay::kernels::block_attention {
namespace {

const CaseSuite& suite(std::string_view name) {
  return *std::ranges::find(suites(), name, &CaseSuite::name);
}

TEST(Suites, HaveTheirCasesAndEachIsValid) {
  const std::map<std::string_view, std::int64_t> counts = {
      {"data", 32}, {"windows", 234}, {"lengths", 41}, {"forms", 16}, {"all", 14}};
  ASSERT_EQ(std::ssize(suites()), std::ssize(counts));
  for (const CaseSuite& item : suites()) {
    EXPECT_EQ(item.num_cases, counts.at(item.name)) << item.name;
    for (std::int64_t index = 0; index < item.num_cases; ++index) {
      ASSERT_TRUE(validate(item.workload(index)).ok()) << item.name << " " << index;
    }
  }
}

TEST(Suites, ValuesAreJudgedAgainstTheReference) {
  for (const CaseSuite& item : suites()) {
    EXPECT_EQ(item.against_reference, item.suite == "values") << item.name;
  }
}

// Each border of a window, with a context that is longer than the window and the block.
TEST(Suites, WindowsLieAtEveryBorder) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;  // of a width
  int num_beyond = 0;
  for (std::int64_t index = 0; index < suite("windows").num_cases; ++index) {
    const BlockPlan plan = parse_plan(suite("windows").workload(index)).value();
    seen.emplace(plan.shape.window, plan.shape.width);
    num_beyond += plan.streams[0].context > plan.shape.window + plan.shape.width ? 1 : 0;
  }
  for (const std::int32_t width : {2, 7, 16}) {
    for (const std::int32_t window :
         {0, 1, width - 1, width, width + 1, 127, 128, 511, 512, 523, 524, 2'047, 2'048}) {
      EXPECT_TRUE(seen.contains({window, width})) << window << " " << width;
    }
  }
  EXPECT_EQ(num_beyond, 11 * 18);
}

TEST(Suites, LengthsGoUpOneByOne) {
  const BlockPlan plan = parse_plan(suite("lengths").workload(0)).value();
  ASSERT_EQ(plan.streams.size(), 258U);
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    ASSERT_EQ(plan.streams[i].context, static_cast<std::int32_t>(i));
  }
}

TEST(Suites, NamedWorkloadsAreThoseOfTheTable) {
  struct Expected {
    std::string_view name;
    std::int64_t kilobytes;  // that a call must move
  };

  constexpr Expected kTable[] = {{"b1", 2'260},
                                 {"b2", 8'530},
                                 {"b3", 8'720},
                                 {"b4", 17'100},
                                 {"b5", 537'000},
                                 {"b6", 34'200},
                                 {"b7", 137'000},
                                 {"b8", 137'000},
                                 {"b9", 279'000},
                                 {"b10", 547'000},
                                 {"b11", 4'298'000},
                                 {"b12", 18'100},
                                 {"b13", 73'900},
                                 {"b14", 136'000}};
  for (const Expected& row : kTable) {
    const auto named = std::ranges::find(named_workloads(), row.name, &NamedWorkload::name);
    std::vector<Setting> axes;
    for (const auto& [axis, value] : named->axes) {
      axes.emplace_back(axis, value);
    }
    const auto problem = make_problem(complete_workload(axes, 0));
    EXPECT_NEAR(
        static_cast<double>(problem->min_bytes()) / 1'000 / static_cast<double>(row.kilobytes),
        1.0,
        0.005)
        << row.name;
  }
}

}  // namespace
}  // namespace assay::kernels::block_attention
