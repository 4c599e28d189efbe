#include "profiler/counter_groups.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

std::vector<std::string> names_of(const std::vector<std::string>& counters) {
  std::vector<std::string> names;
  const auto wanted = expand_counters(counters);
  EXPECT_TRUE(wanted.ok()) << wanted.status();
  for (const WantedMetric& metric : wanted.ok() ? *wanted : std::vector<WantedMetric>()) {
    names.push_back(metric.name);
  }
  return names;
}

TEST(ExpandCounters, ListsTheGroupsForAWordThatIsNone) {
  const std::vector<std::string> counters = {"dram", "cache"};
  EXPECT_EQ(expand_counters(counters).status(),
            absl::InvalidArgumentError("counters: `cache` is neither a group (dram, l2, tensor, "
                                       "occupancy) nor a metric's name"));
}

TEST(ExpandCounters, AddsTheDurationToEverything) {
  EXPECT_EQ(names_of({"l2"}),
            (std::vector<std::string>{
                "lts__t_bytes.sum", "lts__t_sector_hit_rate.pct", "gpu__time_duration.sum"}));
  EXPECT_EQ(names_of({}), std::vector<std::string>{"gpu__time_duration.sum"});
}

TEST(ExpandCounters, KeepsTheOrderAndDropsWhatWasThere) {
  EXPECT_EQ(
      names_of({"gpu__time_duration.sum", "a__b.sum", "l2", "a__b.sum", "l2"}),
      (std::vector<std::string>{
          "gpu__time_duration.sum", "a__b.sum", "lts__t_bytes.sum", "lts__t_sector_hit_rate.pct"}));
}

TEST(ExpandCounters, HoldsAPersonToANameThatAGroupHasToo) {
  const std::vector<std::string> counters = {"l2", "lts__t_bytes.sum"};
  const auto wanted = expand_counters(counters);
  ASSERT_TRUE(wanted.ok());
  EXPECT_EQ((*wanted)[0], (WantedMetric{.name = "lts__t_bytes.sum", .group = ""}));
  EXPECT_EQ((*wanted)[1], (WantedMetric{.name = "lts__t_sector_hit_rate.pct", .group = "l2"}));
}

TEST(KeepAvailable, LeavesOutWhatAGroupLacksAndRefusesWhatWasWritten) {
  const auto explain = [](const std::string& name) {
    return name == "b__c.sum" ? std::string("is no metric") : std::string();
  };
  const std::vector<WantedMetric> of_group = {{.name = "a__b.sum", .group = "l2"},
                                              {.name = "b__c.sum", .group = "l2"}};
  const auto names = keep_available(of_group, explain);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, std::vector<std::string>{"a__b.sum"});

  const std::vector<WantedMetric> written = {{.name = "b__c.sum", .group = ""}};
  EXPECT_EQ(keep_available(written, explain).status(),
            absl::InvalidArgumentError("counters: `b__c.sum` is no metric"));
}

TEST(KeepAvailable, SaysWhichGroupHasNothing) {
  const std::vector<WantedMetric> wanted = {{.name = "a__b.sum", .group = "l2"},
                                            {.name = "b__c.sum", .group = "tensor"}};
  const auto names = keep_available(wanted, [](const std::string& name) {
    return name == "b__c.sum" ? std::string("is no metric") : std::string();
  });
  EXPECT_EQ(names.status(),
            absl::UnavailableError("counters: this chip has no metric of the group `tensor`"));
}

TEST(NearestNames, PutsTheLongestCommonBeginningFirst) {
  const std::vector<std::string> names = {
      "lts__t_bytes", "dram__bytes_write", "dram__bytes", "dram__cycles"};
  EXPECT_EQ(nearest_names("dram__byte.sum", names, 3),
            (std::vector<std::string>{"dram__bytes", "dram__bytes_write", "dram__cycles"}));
  EXPECT_TRUE(nearest_names("x", {}, 3).empty());
}

}  // namespace
}  // namespace assay::profiler
