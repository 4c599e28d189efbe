#include "client/trace.h"

#include "tests/client/fixtures.h"
#include "tests/client/trace_events.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace assay::client {
namespace {

v1::Measurement& add_blocks(v1::Measurement& measurement,
                            const std::string& variant,
                            std::initializer_list<std::int64_t> starts_ns) {
  measurement.mutable_arm()->set_variant(variant);
  v1::StageSamples& total = *measurement.add_stages();
  total.set_stage("total");
  std::uint32_t round = 0;
  for (const std::int64_t started_ns : starts_ns) {
    v1::Block& block = *measurement.add_blocks();
    block.set_round(round++);
    block.set_leg(1);
    block.set_num_calls(2);
    block.set_started_ns(started_ns);
    total.add_samples_ns(1000);
    total.add_samples_ns(1500);
  }
  return measurement;
}

// Two arms in turns, 5 us apart, from 1 s of the runner's clock.
v1::Experiment two_arms() {
  v1::Experiment experiment;
  experiment.set_experiment_id(7);
  experiment.mutable_spec()->set_kind(v1::COMPARE);
  experiment.mutable_spec()->set_operator_name("qsa_decode");
  experiment.mutable_spec()->set_device("host-17");
  experiment.mutable_device()->set_name("host-17");
  experiment.mutable_device()->set_model("Made-up GPU");
  v1::Configuration& configuration = *experiment.add_configurations();
  configuration.set_configuration(1);
  v1::Setting& axis = *configuration.mutable_workload()->add_axes();
  axis.set_name("kv");
  axis.set_value("int8");
  add_blocks(*configuration.mutable_baseline(), "one_cell", {1'000'000'000, 1'000'010'000});
  add_blocks(*configuration.mutable_candidate(), "two_cell", {1'000'005'000, 1'000'015'000});
  return experiment;
}

void add_span(v1::TracedBlock& block,
              std::uint32_t call,
              const std::string& stage,
              const std::string& kernel,
              std::int64_t start_ns,
              std::int64_t end_ns) {
  v1::KernelSpan& span = *block.add_spans();
  span.set_call(call);
  span.set_stage(stage);
  span.set_kernel(kernel);
  span.set_start_ns(start_ns);
  span.set_end_ns(end_ns);
}

v1::TracedBlock& add_traced(v1::Experiment& experiment) {
  v1::TracedBlock& block =
      *experiment.mutable_configurations(0)->mutable_baseline()->add_traced_blocks();
  block.set_leg(1);
  block.set_started_ns(1'000'000'000);
  return block;
}

TEST(Trace, RefusesWhatWasNeverTimed) {
  for (const v1::Experiment& experiment : {made_up_check(), made_up_bench()}) {
    const auto text = trace_text(experiment);
    ASSERT_TRUE(absl::IsFailedPrecondition(text.status()));
    EXPECT_NE(std::string(text.status().message()).find("has no timed blocks; a trace needs"),
              std::string::npos);
  }
  v1::Experiment refused = two_arms();
  refused.mutable_configurations(0)->clear_baseline();
  refused.mutable_configurations(0)->clear_candidate();
  EXPECT_TRUE(absl::IsFailedPrecondition(trace_text(refused).status()));
}

TEST(Trace, PutsTheScheduleOnOneTrackSinceTheFirstBlock) {
  const std::vector<Event> events = events_of(two_arms());
  expect_nested(events);
  const std::vector<Event> baseline = named(events, "A one_cell");
  const std::vector<Event> candidate = named(events, "B two_cell");
  ASSERT_EQ(baseline.size(), 2U);
  ASSERT_EQ(candidate.size(), 2U);
  EXPECT_EQ(baseline[0].start_ns, 0);
  EXPECT_EQ(baseline[0].end_ns, 2500);
  EXPECT_EQ(candidate[1].start_ns, 15'000);
  EXPECT_EQ(baseline[0].track, candidate[0].track);
  const Struct& arguments = candidate[1].arguments;
  EXPECT_EQ(member(arguments, "round").number_value(), 1);
  EXPECT_EQ(member(arguments, "num_calls").number_value(), 2);
  EXPECT_EQ(member(arguments, "median_ns").string_value(), "1250");
  EXPECT_FALSE(member(arguments, "disqualified").bool_value());
  const std::vector<Event> process = named(events, "process_name");
  ASSERT_EQ(process.size(), 1U);
  EXPECT_EQ(member(process[0].arguments, "name").string_value(),
            "configuration 1: qsa_decode kv=int8,seed=0");
}

TEST(Trace, TakesTheSpanAndTheCallsOfASampleButNeverTheNextBlocksTime) {
  v1::Experiment experiment = two_arms();
  v1::Measurement& baseline = *experiment.mutable_configurations(0)->mutable_baseline();
  v1::StageSamples& span = *baseline.add_stages();
  span.set_stage("span");
  for (const std::int64_t sample_ns : {1100, 1600, 1100, 9000}) {
    span.add_samples_ns(sample_ns);
  }
  v1::Measurement& candidate = *experiment.mutable_configurations(0)->mutable_candidate();
  for (v1::Block& block : *candidate.mutable_blocks()) {
    block.set_num_calls(4);
    block.set_calls_per_sample(2);
  }
  const std::vector<Event> events = events_of(experiment);
  expect_nested(events);
  EXPECT_EQ(named(events, "A one_cell")[0].end_ns, 2700);
  EXPECT_EQ(named(events, "A one_cell")[1].end_ns, 15'000) << "where B begins";
  EXPECT_EQ(named(events, "B two_cell")[0].end_ns, 10'000);
  EXPECT_EQ(named(events, "B two_cell")[1].end_ns, 20'000);
}

TEST(Trace, NestsKernelsInStagesInCalls) {
  v1::Experiment experiment = two_arms();
  v1::TracedBlock& block = add_traced(experiment);
  add_span(block, 0, "chunk", "chunk_kernel", 100, 400);
  add_span(block, 0, "merge", "merge_kernel", 450, 500);
  add_span(block, 1, "chunk", "chunk_kernel", 600, 900);
  const std::vector<Event> events = events_of(experiment);
  expect_nested(events);
  EXPECT_EQ(drawn(events),
            std::vector<std::string>({"A one_cell: calls: call 0 [100, 500]",
                                      "A one_cell: calls: chunk [100, 400]",
                                      "A one_cell: calls: chunk_kernel [100, 400]",
                                      "A one_cell: calls: merge [450, 500]",
                                      "A one_cell: calls: merge_kernel [450, 500]",
                                      "A one_cell: calls: call 1 [600, 900]",
                                      "A one_cell: calls: chunk [600, 900]",
                                      "A one_cell: calls: chunk_kernel [600, 900]"}));
}

TEST(Trace, GivesOverlappingKernelsStagesAndCallsTracksOfTheirOwn) {
  v1::Experiment experiment = two_arms();
  v1::TracedBlock& block = add_traced(experiment);
  add_span(block, 0, "chunk", "first", 0, 100);
  add_span(block, 0, "chunk", "second", 90, 200);
  add_span(block, 0, "merge", "third", 190, 300);
  add_span(block, 1, "chunk", "first", 290, 400);
  const std::vector<Event> events = events_of(experiment);
  expect_nested(events);
  EXPECT_EQ(drawn(events),
            std::vector<std::string>({"A one_cell: calls: call 0 [0, 300]",
                                      "A one_cell: calls: chunk [0, 200]",
                                      "A one_cell: calls: first [0, 100]",
                                      "A one_cell: overlapping 1: second [90, 200]",
                                      "A one_cell: overlapping 2: merge [190, 300]",
                                      "A one_cell: overlapping 2: third [190, 300]",
                                      "A one_cell: overlapping 1: call 1 [290, 400]",
                                      "A one_cell: overlapping 1: chunk [290, 400]",
                                      "A one_cell: overlapping 1: first [290, 400]"}));
}

TEST(Trace, MarksReplaysAndLeavesOutKernelsWithoutAName) {
  v1::Experiment experiment = two_arms();
  v1::TracedBlock& block = add_traced(experiment);
  block.set_is_replay(true);
  add_span(block, 3, "chunk", "", 5, 5);
  add_span(block, 3, "", "loose", 9, 7);
  block.mutable_spans(1)->set_graph_node_id(std::numeric_limits<std::uint64_t>::max());
  const std::vector<Event> events = events_of(experiment);
  expect_nested(events);
  EXPECT_EQ(drawn(events),
            std::vector<std::string>({"A one_cell: calls: replayed call 3 [5, 9]",
                                      "A one_cell: calls: chunk [5, 5]",
                                      "A one_cell: calls: loose [9, 9]"}));
  EXPECT_EQ(member(named(events, "loose")[0].arguments, "graph_node_id").string_value(),
            "18446744073709551615");
}

TEST(Trace, DrawsClocksTemperatureAndPowerWhereTheyAreKnown) {
  v1::Experiment experiment = two_arms();
  v1::Block& block = *experiment.mutable_configurations(0)->mutable_candidate()->mutable_blocks(0);
  block.set_sm_clock_mhz(1980);
  block.set_power_milliwatts(412'500);
  block.set_disqualified(true);
  block.set_disqualified_because("thermal \"slow\\down\"\n");
  const std::vector<Event> events = events_of(experiment);
  ASSERT_EQ(named(events, "SM clock").size(), 1U);
  EXPECT_EQ(named(events, "SM clock")[0].phase, "C");
  EXPECT_EQ(named(events, "SM clock")[0].start_ns, 5000);
  EXPECT_EQ(member(named(events, "SM clock")[0].arguments, "MHz").number_value(), 1980);
  EXPECT_EQ(member(named(events, "power")[0].arguments, "W").number_value(), 412.5);
  EXPECT_TRUE(named(events, "temperature").empty());
  const std::vector<Event> disqualified = named(events, "B two_cell (disqualified)");
  ASSERT_EQ(disqualified.size(), 1U);
  EXPECT_EQ(member(disqualified[0].arguments, "disqualified_because").string_value(),
            "thermal \"slow\\down\"\n");
}

TEST(Trace, IsJsonWhateverIsStored) {
  v1::Experiment experiment = two_arms();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  v1::Measurement& baseline = *experiment.mutable_configurations(0)->mutable_baseline();
  baseline.mutable_blocks(0)->set_started_ns(kLeast);
  baseline.mutable_blocks(1)->set_started_ns(kMost);
  baseline.mutable_blocks(1)->set_calls_per_sample(2);
  baseline.mutable_stages(0)->set_samples_ns(0, kMost);
  baseline.mutable_stages(0)->set_samples_ns(1, kMost);
  baseline.mutable_stages(0)->set_samples_ns(2, -5);
  v1::TracedBlock& block = add_traced(experiment);
  add_span(block, 0, "chunk", "kernel", kLeast, kMost);
  add_span(block, 0, "chunk", "kernel", kMost, kLeast);
  const auto text = trace_text(experiment);
  ASSERT_TRUE(text.ok());
  parsed(*text);
}

TEST(Trace, SaysWhatWasMeasuredAndNamesNoMachine) {
  const auto text = trace_text(two_arms());
  ASSERT_TRUE(text.ok());
  const Struct document = parsed(*text);
  EXPECT_EQ(member(document, "displayTimeUnit").string_value(), "ns");
  const Struct& other = member(document, "otherData").struct_value();
  EXPECT_EQ(member(other, "experiment_id").string_value(), "7");
  EXPECT_EQ(member(other, "operator").string_value(), "qsa_decode");
  EXPECT_EQ(member(other, "device").string_value(), "Made-up GPU");
  EXPECT_EQ(text->find("host-17"), std::string::npos);
  EXPECT_NE(text->find("\"ts\":5.000,\"dur\":2.500"), std::string::npos) << *text;
}

TEST(Trace, GivesEveryConfigurationAProcessAndEveryTrackANumberOfItsOwn) {
  v1::Experiment experiment = two_arms();
  *experiment.add_configurations() = experiment.configurations(0);
  experiment.mutable_configurations(1)->set_configuration(2);
  experiment.mutable_configurations(1)->clear_candidate();
  const std::vector<Event> events = events_of(experiment);
  EXPECT_EQ(named(events, "process_name").size(), 2U);
  std::map<int, int> processes;
  for (const Event& event : named(events, "thread_name")) {
    EXPECT_TRUE(processes.emplace(event.track, event.process).second);
  }
  EXPECT_EQ(processes.size(), 2U);
}

}  // namespace
}  // namespace assay::client
