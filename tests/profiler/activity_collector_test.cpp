#include "profiler/activity_collector.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

const std::array<std::string, 2> kStages = {"chunk", "merge"};

// A launch under the id of (call, stage) whose kernel ran from start to end.
class Launches {
 public:
  explicit Launches(ActivityCollector& collector) : collector_(collector) {}

  void add(std::uint32_t call, std::size_t stage, std::uint64_t start_ns, std::uint64_t end_ns) {
    collector_.add_external(++correlation_id_, collector_.id_of(call, stage));
    collector_.add_kernel(
        {.correlation_id = correlation_id_, .start_ns = start_ns, .end_ns = end_ns});
  }

  std::uint32_t last() const { return correlation_id_; }

 private:
  ActivityCollector& collector_;
  std::uint32_t correlation_id_ = 100;
};

std::vector<std::int64_t> samples(const CollectedBlock& block, const std::string& stage) {
  for (const v1::StageSamples& samples : block.stages) {
    if (samples.stage() == stage) {
      return {samples.samples_ns().begin(), samples.samples_ns().end()};
    }
  }
  return {};
}

TEST(ActivityCollector, GivesNoTimeToACallWithARecordWithoutTimes) {
  ActivityCollector collector;
  collector.begin(2, kStages);
  Launches launches(collector);
  launches.add(0, 0, 0, 0);
  launches.add(0, 1, 50, 60);
  launches.add(1, 0, 70, 75);
  launches.add(1, 1, 80, 90);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(block.num_invalid_records, 1U);
  EXPECT_EQ(block.num_incomplete_calls, 1U);
  EXPECT_EQ(samples(block, "total"), (std::vector<std::int64_t>{0, 15}));
}

TEST(ActivityCollector, CountsARecordThatEndsBeforeItStarts) {
  ActivityCollector collector;
  collector.begin(1, kStages);
  Launches launches(collector);
  launches.add(0, 0, 20, 10);
  launches.add(0, 1, 30, 40);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(block.num_invalid_records, 1U);
  EXPECT_EQ(samples(block, "chunk"), std::vector<std::int64_t>{0});
  EXPECT_EQ(samples(block, "span"), std::vector<std::int64_t>{0});
}

TEST(ActivityCollector, GivesNoTimeToACallWhoseRecordWasDropped) {
  ActivityCollector collector;
  collector.begin(2, kStages);
  Launches launches(collector);
  launches.add(0, 0, 10, 20);
  launches.add(1, 0, 30, 40);
  launches.add(1, 1, 40, 45);
  collector.add_dropped(1);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(block.num_dropped_records, 1U);
  EXPECT_EQ(samples(block, "total"), (std::vector<std::int64_t>{0, 15}));
}

TEST(ActivityCollector, KeepsLateRecordsOfAnOlderBlockOut) {
  ActivityCollector collector;
  collector.begin(1, kStages);
  const std::uint64_t old_id = collector.id_of(0, 1);
  collector.finish();
  collector.begin(1, kStages);
  EXPECT_NE(collector.id_of(0, 0), old_id);
  EXPECT_NE(collector.id_of(0, 1), old_id);
  Launches launches(collector);
  collector.add_external(1, old_id);
  collector.add_kernel({.correlation_id = 1, .start_ns = 1, .end_ns = 1'000'000});
  launches.add(0, 0, 10, 20);
  launches.add(0, 1, 20, 25);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "total"), std::vector<std::int64_t>{15});
  EXPECT_EQ(block.num_invalid_records, 0U);
}

TEST(ActivityCollector, IgnoresKernelsWithoutAnId) {
  ActivityCollector collector;
  collector.begin(1, kStages);
  Launches launches(collector);
  collector.add_kernel({.correlation_id = 7, .start_ns = 1, .end_ns = 1'000'000});
  launches.add(0, 0, 10, 20);
  launches.add(0, 1, 20, 25);
  EXPECT_EQ(samples(collector.finish(), "total"), std::vector<std::int64_t>{15});
}

TEST(ActivityCollector, CountsKernelsOnAnotherStream) {
  ActivityCollector collector;
  collector.expect_stream(7);
  collector.begin(1, kStages);
  collector.add_external(1, collector.id_of(0, 0));
  collector.add_kernel({.correlation_id = 1, .start_ns = 10, .end_ns = 20, .stream_id = 7});
  collector.add_external(2, collector.id_of(0, 1));
  collector.add_kernel({.correlation_id = 2, .start_ns = 20, .end_ns = 30, .stream_id = 8});
  // By a thread that knows no id, and a node of a graph, which the driver places.
  collector.add_kernel({.correlation_id = 3, .start_ns = 20, .end_ns = 30, .stream_id = 9});
  collector.add_kernel(
      {.correlation_id = 1, .start_ns = 20, .end_ns = 30, .graph_node_id = 5, .stream_id = 9});
  EXPECT_EQ(collector.finish().num_elsewhere, 2U);
}

TEST(ActivityCollector, SumsTheKernelsOfAStageAndSpansTheCall) {
  ActivityCollector collector;
  collector.begin(1, kStages);
  Launches launches(collector);
  launches.add(0, 1, 40, 45);
  launches.add(0, 0, 10, 20);
  launches.add(0, 0, 22, 25);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "chunk"), std::vector<std::int64_t>{13});
  EXPECT_EQ(samples(block, "merge"), std::vector<std::int64_t>{5});
  EXPECT_EQ(samples(block, "total"), std::vector<std::int64_t>{18});
  EXPECT_EQ(samples(block, "span"), std::vector<std::int64_t>{35});
}

TEST(ActivityCollector, CountsTimeInWhichKernelsOfACallOverlapOnce) {
  ActivityCollector collector;
  collector.begin(2, kStages);
  Launches launches(collector);
  // Handed over out of order; the second stage waits for the first one's end.
  launches.add(0, 1, 30, 110);
  launches.add(0, 0, 10, 100);
  launches.add(1, 0, 120, 180);
  launches.add(1, 1, 175, 200);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "chunk"), (std::vector<std::int64_t>{90, 60}));
  EXPECT_EQ(samples(block, "merge"), (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(samples(block, "total"), (std::vector<std::int64_t>{100, 80}));
  EXPECT_EQ(samples(block, "span"), (std::vector<std::int64_t>{100, 80}));
  EXPECT_EQ(block.num_incomplete_calls, 0U);
}

TEST(ActivityCollector, GivesNoTimeToACallThatLostOneOfItsKernels) {
  ActivityCollector collector;
  collector.begin(2, kStages);
  Launches launches(collector);
  launches.add(0, 0, 10, 20);
  launches.add(0, 0, 20, 30);
  launches.add(0, 1, 30, 35);
  launches.add(1, 0, 40, 50);
  launches.add(1, 1, 60, 65);
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "total"), (std::vector<std::int64_t>{25, 0}));
  EXPECT_EQ(block.num_incomplete_calls, 1U);
  EXPECT_EQ(block.num_kernels, 5U);
}

// Three kernels a call, one launch for ten calls, and a node that flushes a cache before each.
TEST(ActivityCollector, TellsTheKernelsOfAReplayedGraphApartByTheirNodes) {
  constexpr std::uint32_t kCalls = 5;
  NodePlaces places;
  for (std::uint32_t call = 0; call < kCalls; ++call) {
    places[10 * call + 1] = {call, 0};
    places[10 * call + 2] = {call, 0};
    places[10 * call + 3] = {call, 1};
  }
  ActivityCollector collector;
  collector.begin(2 * kCalls, kStages);
  collector.expect_replays(kCalls, places);
  collector.keep_spans(1'000);
  for (std::uint32_t replay = 0; replay < 2; ++replay) {
    collector.add_external(50 + replay, collector.id_of_replay(replay));
    // Handed over from the last node to the first.
    for (std::uint32_t call = kCalls; call-- > 0;) {
      const std::uint64_t start_ns = 10'000 * (replay + 1) + 1'000 * call;
      const auto add = [&](std::uint64_t node, std::uint64_t from, std::uint64_t to) {
        collector.add_kernel({.correlation_id = 50 + replay,
                              .start_ns = start_ns + from,
                              .end_ns = start_ns + to,
                              .graph_node_id = 10 * call + node,
                              .name = "kernel"});
      };
      add(3, 50, 57 + call);
      add(2, 30, 45);
      add(1, 10, 20);
      add(9, 0, 9);
    }
  }
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "chunk"), std::vector<std::int64_t>(10, 25));
  EXPECT_EQ(samples(block, "merge"), (std::vector<std::int64_t>{7, 8, 9, 10, 11, 7, 8, 9, 10, 11}));
  EXPECT_EQ(samples(block, "span"),
            (std::vector<std::int64_t>{47, 48, 49, 50, 51, 47, 48, 49, 50, 51}));
  EXPECT_EQ(block.num_incomplete_calls, 0U);
  EXPECT_EQ(block.num_kernels, 30U);
  ASSERT_EQ(block.spans.size(), 30U);
  EXPECT_EQ(block.spans[0].start_ns(), 9'010);
  EXPECT_EQ(block.spans[0].graph_node_id(), 1U);
  EXPECT_EQ(block.spans[29].call(), 9U);
  EXPECT_EQ(block.spans[29].stage(), "merge");
}

TEST(ActivityCollector, GivesNoTimeToAReplayOfAnotherGraph) {
  const NodePlaces places = {{1, {0, 0}}, {2, {0, 1}}};
  ActivityCollector collector;
  collector.begin(1, kStages);
  collector.expect_replays(1, places);
  collector.add_external(5, collector.id_of_replay(0));
  collector.add_kernel({.correlation_id = 5, .start_ns = 10, .end_ns = 20, .graph_node_id = 77});
  const CollectedBlock block = collector.finish();
  EXPECT_EQ(samples(block, "total"), std::vector<std::int64_t>{0});
  EXPECT_EQ(block.num_kernels, 0U);
  EXPECT_EQ(block.num_incomplete_calls, 1U);
}

TEST(ActivityCollector, JoinsAnIdThatArrivesAfterItsKernel) {
  ActivityCollector collector;
  const std::array<std::string, 1> stages = {"all"};
  collector.begin(1, stages);
  collector.add_kernel({.correlation_id = 9, .start_ns = 10, .end_ns = 14});
  collector.add_external(9, collector.id_of(0, 0));
  EXPECT_EQ(samples(collector.finish(), "all"), std::vector<std::int64_t>{4});
}

}  // namespace
}  // namespace assay::profiler
