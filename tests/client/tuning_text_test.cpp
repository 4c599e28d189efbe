#include "client/tuning_text.h"

#include "tests/client/sweep_fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

v1::ListTuningsResponse two_operators() {
  v1::ListTuningsResponse all;
  *all.add_tunings() = made_up_tuning("64", "2");
  v1::Tuning& other = *all.add_tunings();
  other = made_up_tuning("64", "4");
  other.set_operator_name("other");
  *other.mutable_baseline_arm() = other.arm();
  v1::Tuning& stale = *all.add_tunings();
  stale = made_up_tuning("2051", "4");
  stale.set_stale("the driver was 580.1, it is 590.2");
  return all;
}

TEST(TuningText, SaysWhyThereIsNone) {
  v1::LookupTuningResponse answer;
  answer.set_missing("not tuned: no sweep is near");
  EXPECT_EQ(tuning_text(answer), "not tuned: no sweep is near\n");
  EXPECT_EQ(tunings_text({}, Format::kTable),
            "nothing is tuned yet: `assay sweep OPERATOR` fills the table\n");
}

TEST(TuningText, ShowsAnEntryWithWhatItRestsOn) {
  v1::LookupTuningResponse answer;
  *answer.mutable_tuning() = made_up_tuning("64", "2");
  answer.set_match("nearest: width 64 for 100");
  EXPECT_EQ(
      tuning_text(answer),
      "two_cell:cells_per_step=2,threads=2\n"
      "  match   nearest: width 64 for 100\n"
      "  time    61.50 us, 0.500 of one_cell [0.490, 0.510]\n"
      "  noise   1.3 %, 1 other within it\n"
      "  from    experiment 7, 2026-01-31 12:00:05 UTC, 3 of 4 configurations tried, random\n");
  answer.mutable_tuning()->set_stale("the driver was 580.1,\nit is 590.2");
  EXPECT_TRUE(tuning_text(answer).ends_with("\n  stale   the driver was 580.1, it is 590.2\n"));
  *answer.mutable_tuning()->mutable_baseline_arm() = answer.tuning().arm();
  EXPECT_NE(tuning_text(answer).find("61.50 us, the baseline itself\n"), std::string::npos);
}

TEST(TuningText, ListsEachOperatorAndDeviceByItself) {
  EXPECT_EQ(
      tunings_text(two_operators(), Format::kTable),
      "operator  other\n"
      "device    Made-up GPU\n"
      "workload  kv=int8, width=64\n"
      "winner    two_cell, cells_per_step=4, threads=2\n"
      "\n"
      "workload  winner       us  of baseline  noise  tied   tried  experiment  measured (UTC)"
      "       fresh\n"
      "as above  as above  61.50       itself  1.3 %     1  3 of 4           7  2026-01-31 "
      "12:00:05  yes\n"
      "\n"
      "operator  qsa_decode\n"
      "device    Made-up GPU\n"
      "workload  kv=int8\n"
      "winner    two_cell, threads=2\n"
      "\n"
      "workload    winner               us  of baseline  noise  tied   tried  experiment  "
      "measured (UTC)       fresh\n"
      "width=64    cells_per_step=2  61.50        0.500  1.3 %     1  3 of 4           7  "
      "2026-01-31 12:00:05  yes\n"
      "width=2051  cells_per_step=4  61.50        0.500  1.3 %     1  3 of 4           7  "
      "2026-01-31 12:00:05  stale [1]\n"
      "\n"
      "[1] the driver was 580.1, it is 590.2\n");
  const std::string markdown = tunings_text(two_operators(), Format::kMarkdown);
  EXPECT_NE(markdown.find("- workload: kv=int8\n"), std::string::npos) << markdown;
}

TEST(TuningText, GivesProgramsRawFigures) {
  const std::string text = tunings_text(two_operators(), Format::kCsv);
  EXPECT_NE(
      text.find("\nqsa_decode,\"kv=int8,width=64\",Made-up GPU,9.0,\"two_cell:cells_per_step=2,"
                "threads=2\",61500,one_cell,0.5,0.49,0.51,0.013,1,3,4,0,random,7,"
                "1769860805000000000,\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace assay::client
