#include "history/events.h"

#include <gtest/gtest.h>

namespace assay::history {
namespace {

SeriesPoint run_of(std::int64_t experiment_id) {
  return {.experiment_id = experiment_id,
          .median_ns = 1000,
          .code_digest = "c1",
          .bits_digest = "b1",
          .family = "baseline",
          .num_registers = 64};
}

TEST(Events, NothingChangedIsNoEvent) {
  EXPECT_TRUE(events_of({}).empty());
  EXPECT_TRUE(events_of(std::vector{run_of(1), run_of(2), run_of(3)}).empty());
}

TEST(Events, CodeRegistersAndSpillsAreEventsOfTheirRun) {
  std::vector<SeriesPoint> series = {run_of(7), run_of(8), run_of(9)};
  series[1].code_digest = "c2";
  series[1].num_registers = 96;
  series[1].local_bytes = 32;
  const std::vector<Event> events = events_of(series);
  // Back to fewer registers and none spilled is no event; back to the code before is one.
  ASSERT_EQ(events.size(), 4);
  EXPECT_EQ(events[0].kind, EventKind::kCode);
  EXPECT_EQ(events[0].point, 1);
  EXPECT_EQ(events[0].experiment_id, 8);
  EXPECT_EQ(events[0].message, "code from c1 to c2");
  EXPECT_EQ(events[1].kind, EventKind::kRegisters);
  EXPECT_EQ(events[1].message, "registers of a thread from 64 to 96");
  EXPECT_EQ(events[2].kind, EventKind::kSpills);
  EXPECT_EQ(events[2].message, "local memory of a thread from 0 bytes to 32 bytes");
  EXPECT_EQ(events[3].kind, EventKind::kCode);
  EXPECT_EQ(events[3].point, 2);
}

TEST(Events, OtherBitsOfTheSameFamilyAreABitEpoch) {
  std::vector<SeriesPoint> series = {run_of(1), run_of(2), run_of(3)};
  series[2].bits_digest = "b2";
  const std::vector<Event> events = events_of(series);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].kind, EventKind::kBits);
  EXPECT_EQ(events[0].message, "output bits from b1 to b2");
}

TEST(Events, BitsOfAnotherFamilyAreHeldAgainstItsOwnLastRun) {
  std::vector<SeriesPoint> series = {run_of(1), run_of(2), run_of(3), run_of(4)};
  series[1].family = series[3].family = "hw_exp";
  series[1].bits_digest = "h1";
  series[3].bits_digest = "h2";
  const std::vector<Event> events = events_of(series);
  ASSERT_EQ(events.size(), 4);
  EXPECT_EQ(events[0].kind, EventKind::kFamily);
  EXPECT_EQ(events[1].kind, EventKind::kFamily);
  EXPECT_EQ(events[2].kind, EventKind::kFamily);
  EXPECT_EQ(events[3].kind, EventKind::kBits);
  EXPECT_EQ(events[3].message, "output bits from h1 to h2");
}

TEST(Events, ARejectedRunIsAnEventAndItsBitsStartNoEpoch) {
  std::vector<SeriesPoint> series = {run_of(1), run_of(2), run_of(3)};
  series[1].rejected = true;
  series[1].bits_digest = "wrong";
  const std::vector<Event> events = events_of(series);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].kind, EventKind::kRejected);
  EXPECT_EQ(events[0].point, 1);
}

TEST(Events, WhatIsUnknownIsNoChange) {
  std::vector<SeriesPoint> series = {run_of(1), run_of(2), run_of(3)};
  series[1].code_digest = "";
  series[1].bits_digest = "";
  series[1].num_registers = 0;
  EXPECT_TRUE(events_of(series).empty());
}

}  // namespace
}  // namespace assay::history
