#include "tests/profiler/catalogue_checks.h"

#include "profiler/checks.h"
#include "profiler/rounds.h"
#include "profiler/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay::profiler {
namespace {

// A cold rotation over a smaller workload takes so many sets that it would be little else.
constexpr std::int64_t kLeastBytes = 1'000'000;

// The named workload with the smallest tensors, of those that a cold rotation suits.
v1::Workload small_workload(const kernels::Operator& op) {
  v1::Workload smallest;
  std::int64_t fewest = -1;
  for (const kernels::NamedWorkload& named : op.workloads) {
    const v1::Workload given = settings_workload(named.axes);
    const auto workload = complete_workload(op, given);
    EXPECT_TRUE(workload.ok()) << workload.status();
    const auto problem = workload.ok() ? op.make_problem(*workload) : nullptr;
    if (problem == nullptr || problem->min_bytes() < kLeastBytes) {
      continue;
    }
    std::int64_t num_bytes = 0;
    for (const kernels::TensorSpec& tensor : problem->tensors()) {
      num_bytes += kernels::num_bytes(tensor);
    }
    if (fewest < 0 || num_bytes < fewest) {
      fewest = num_bytes;
      smallest = given;
    }
  }
  return smallest;
}

// The second variant whose bits must be the baseline's; null where there is none.
const v1::VariantInfo* find_candidate(const v1::OperatorInfo& info) {
  const auto found = std::find_if(
      info.variants().begin() + 1, info.variants().end(), [&](const v1::VariantInfo& variant) {
        return variant.family() == info.variants(0).family();
      });
  return found == info.variants().end() ? nullptr : &*found;
}

void expect_positive(const google::protobuf::RepeatedPtrField<v1::StageSamples>& stages) {
  for (const v1::StageSamples& stage : stages) {
    EXPECT_GT(stage.samples_ns_size(), 0) << stage.stage();
    EXPECT_TRUE(std::ranges::all_of(stage.samples_ns(), [](std::int64_t ns) { return ns > 0; }))
        << stage.stage();
  }
}

void expect_samples(const v1::Measurement& measurement, int num_blocks) {
  EXPECT_EQ(measurement.blocks_size(), num_blocks);
  std::uint32_t expected = 0;
  for (const v1::Block& block : measurement.blocks()) {
    expected += num_samples(block);
  }
  EXPECT_GT(expected, 0U);
  expect_positive(measurement.stages());
  for (const v1::StageSamples& stage : measurement.stages()) {
    EXPECT_EQ(static_cast<std::uint32_t>(stage.samples_ns_size()), expected) << stage.stage();
  }
  EXPECT_EQ(measurement.num_invalid_records(), 0U);
  EXPECT_EQ(measurement.num_dropped_records(), 0U);
}

}  // namespace

void expect_mutants_rejected(Device& device) {
  RunnerState state(device);
  const auto ignore = [](double, const std::string&) { return absl::OkStatus(); };
  for (const kernels::Operator* op : kernels::catalogue()) {
    const v1::OperatorInfo info = device.describe(*op);
    EXPECT_FALSE(info.mutants().empty()) << info.name();
    for (const v1::MutantInfo& mutant : info.mutants()) {
      v1::RunnerCheck request;
      request.set_suite(std::string(kMutantSuite));
      request.set_name(mutant.name());
      const auto result = run_check(state, *op, request, ignore);
      ASSERT_TRUE(result.ok()) << mutant.name() << ": " << result.status();
      EXPECT_TRUE(result->passed()) << mutant.name() << ": " << result->detail();
      EXPECT_GT(result->num_nontrivial(), 0) << mutant.name();
    }
  }
}

void expect_configuration_carried(Device& device,
                                  v1::CacheMode cache_mode,
                                  v1::LaunchMode launch_mode,
                                  v1::TimingSource source) {
  constexpr std::uint32_t kCalls = 3;
  const bool is_graph = launch_mode == v1::GRAPH && source != v1::CUPTI_ACTIVITY;
  RunnerState state(device);
  for (const kernels::Operator* op : kernels::catalogue()) {
    const v1::OperatorInfo info = device.describe(*op);
    ASSERT_FALSE(info.variants().empty()) << info.name();
    const v1::VariantInfo* const candidate = find_candidate(info);
    v1::RunnerOpen request;
    request.set_operator_name(info.name());
    *request.mutable_workload() = small_workload(*op);
    request.mutable_baseline()->set_variant(info.variants(0).name());
    if (candidate != nullptr) {
      request.mutable_candidate()->set_variant(candidate->name());
    }
    request.set_cache_mode(cache_mode);
    request.set_num_calls(kCalls);
    request.set_launch_mode(launch_mode);
    request.set_timing_source(source);
    Session session(state, *op);
    const auto opened = session.open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << opened->baseline().bits().detail();
    EXPECT_EQ(opened->candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << opened->candidate().bits().detail();
    EXPECT_FALSE(opened->identical_code());
    if (candidate != nullptr) {
      EXPECT_EQ(opened->baseline().outputs(0).digest(), opened->candidate().outputs(0).digest());
    }

    v1::RunnerTime time;
    time.set_schedule(v1::BAB);
    time.set_num_rounds(2);
    const auto timed = session.time(time);
    ASSERT_TRUE(timed.ok()) << timed.status();
    EXPECT_EQ(timed->baseline().stages_size() == 1, is_graph);
    expect_samples(timed->baseline(), 2);
    if (candidate != nullptr) {
      expect_samples(timed->candidate(), 4);
    }
    const auto closed = session.close(v1::RunnerClose());
    ASSERT_TRUE(closed.ok()) << closed.status();
    EXPECT_FALSE(closed->candidate().has_bits()) << closed->candidate().bits().detail();
    if (is_graph) {
      // Every kernel of one replay more, and what they are together.
      EXPECT_EQ(closed->baseline().activity_stages_size(), info.variants(0).stages_size() + 2);
      expect_positive(closed->baseline().activity_stages());
    }
  }
}

}  // namespace assay::profiler
