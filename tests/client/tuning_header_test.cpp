#include "client/tuning_header.h"

#include "tests/client/fixtures/tuned.h"
#include "tests/client/sweep_fixtures.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

namespace assay::client {
namespace {

using assay_tuned::find;
using assay_tuned::parameter;
using assay_tuned::Setting;

v1::ListOperatorsResponse operators() {
  v1::ListOperatorsResponse list;
  v1::OperatorInfo& info = *list.add_operators();
  info.set_name("qsa_decode");
  v1::AxisInfo& kv = *info.add_axes();
  kv.set_name("kv");
  kv.add_choices("int8");
  v1::AxisInfo& dim = *info.add_axes();
  dim.set_name("dim");
  dim.add_choices("128");
  dim.add_choices("256");
  info.add_axes()->set_name("width");
  return list;
}

v1::Tuning entry(const std::string& variant, const std::string& width, const std::string& cells) {
  v1::Tuning tuning = made_up_tuning(width, cells);
  tuning.mutable_arm()->set_variant(variant);
  tuning.set_workload("kv=int8,dim=128,width=" + width);
  return tuning;
}

// What tests/client/fixtures/tuned.h holds.
v1::ListTuningsResponse checked_in() {
  v1::ListTuningsResponse table;
  *table.add_tunings() = entry("two_cell", "1024", "2");
  *table.add_tunings() = entry("two_cell", "2048", "4");
  v1::Tuning& faster = *table.add_tunings();
  faster = entry("lane_cell", "2048", "8");
  faster.set_median_ns(60'000);
  v1::Tuning& bare = *table.add_tunings();
  bare.set_operator_name("say \"hi\" \\n");
  bare.mutable_arm()->set_variant("plain");
  bare.set_device_model("C:\\GPU");
  bare.set_stale("the driver was 580.1, it is 590.2");
  return table;
}

std::array<Setting, 3> workload(std::string_view width, std::string_view dim = "128") {
  return {Setting{"kv", "int8"}, Setting{"dim", dim}, Setting{"width", width}};
}

std::int64_t cells_for(std::string_view variant, std::string_view width) {
  return parameter(find("qsa_decode", variant, "9.0", workload(width)), "cells_per_step", -1);
}

TEST(TuningHeader, RefusesAnEmptyTableAndTextThatNoLiteralHolds) {
  EXPECT_TRUE(absl::IsFailedPrecondition(tuning_header({}, operators()).status()));
  v1::ListTuningsResponse table;
  *table.add_tunings() = made_up_tuning("64", "2");
  table.mutable_tunings(0)->mutable_arm()->mutable_parameters(1)->set_value("2\n3");
  const absl::Status status = tuning_header(table, operators()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "the entry of `qsa_decode` for kv=int8,width=64: has a control character, which a "
            "header cannot hold");
}

TEST(TuningHeader, IsTheOneThatIsCheckedIn) {
  std::ostringstream text;
  text << std::ifstream(ASSAY_TUNED_HEADER).rdbuf();
  const auto header = tuning_header(checked_in(), operators());
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(*header, text.str());
}

TEST(TuningHeader, GivesNullForAnotherCaseAndThenTheFallback) {
  EXPECT_EQ(find("qsa_decode", "", "8.0", workload("2048")), nullptr);
  EXPECT_EQ(find("other", "", "9.0", workload("2048")), nullptr);
  EXPECT_EQ(find("qsa_decode", "hw_exp", "9.0", workload("2048")), nullptr);
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("511")), nullptr);
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("4097")), nullptr);
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("0")), nullptr);
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("-2048")), nullptr);
  EXPECT_EQ(find("qsa_decode", "", "9.0", {}), nullptr);
  const std::array<Setting, 3> renamed = {
      Setting{"kv", "int8"}, Setting{"dim", "128"}, Setting{"cap", "2048"}};
  EXPECT_EQ(find("qsa_decode", "", "9.0", renamed), nullptr);
  EXPECT_EQ(parameter(nullptr, "threads", 7), 7);
  EXPECT_EQ(parameter(nullptr, "threads", "seven"), "seven");
}

TEST(TuningHeader, HoldsChoicesForNoNumbers) {
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("2048", "256")), nullptr);
  EXPECT_NE(find("qsa_decode", "", "9.0", workload("2048", "128")), nullptr);
}

TEST(TuningHeader, GivesTheSameWorkloadElseTheNearestElseTheFastest) {
  EXPECT_EQ(cells_for("two_cell", "1024"), 2);
  EXPECT_EQ(cells_for("two_cell", "2048"), 4);
  EXPECT_EQ(cells_for("two_cell", "1400"), 2);
  EXPECT_EQ(cells_for("two_cell", "1500"), 4);
  EXPECT_EQ(cells_for("two_cell", "512"), 2);
  EXPECT_EQ(cells_for("two_cell", "4096"), 4);
  EXPECT_EQ(cells_for("", "2048"), 8);
  EXPECT_EQ(find("qsa_decode", "", "9.0", workload("2048"))->variant, "lane_cell");
}

TEST(TuningHeader, HoldsAnEntryWithoutNumbersAndWithAnyText) {
  const assay_tuned::Entry* entry = find("say \"hi\" \\n", "", "", {});
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->device_model, "C:\\GPU");
  EXPECT_TRUE(entry->workload.empty());
  EXPECT_EQ(parameter(entry, "threads", 7), 7);
  EXPECT_NE(entry->provenance.find("stale: the driver was 580.1"), std::string_view::npos);
}

TEST(TuningHeader, WorksWhileItIsCompiled) {
  static constexpr std::array<Setting, 3> kWorkload = {
      Setting{"kv", "int8"}, Setting{"dim", "128"}, Setting{"width", "2000"}};
  constexpr const assay_tuned::Entry* kEntry = find("qsa_decode", "two_cell", "9.0", kWorkload);
  static_assert(parameter(kEntry, "cells_per_step", 1) == 4);
  static_assert(parameter(kEntry, "cells_per_step", "none") == "4");
  static_assert(parameter(kEntry, "stages", 3) == 3);
}

}  // namespace
}  // namespace assay::client
