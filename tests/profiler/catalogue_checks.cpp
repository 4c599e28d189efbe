#include "tests/profiler/catalogue_checks.h"

#include "profiler/checks.h"
#include "profiler/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay::profiler {
namespace {

// The first named workload whose inputs and outputs are the fewest bytes.
v1::Workload small_workload(const kernels::Operator& op) {
  v1::Workload smallest;
  std::int64_t fewest = -1;
  for (const kernels::NamedWorkload& named : op.workloads) {
    const v1::Workload given = settings_workload(named.axes);
    const auto workload = complete_workload(op, given);
    EXPECT_TRUE(workload.ok()) << workload.status();
    const std::int64_t num_bytes = workload.ok() ? op.make_problem(*workload)->min_bytes() : 0;
    if (workload.ok() && (fewest < 0 || num_bytes < fewest)) {
      fewest = num_bytes;
      smallest = given;
    }
  }
  return smallest;
}

void expect_samples(const v1::Measurement& measurement, std::size_t num_calls) {
  EXPECT_GE(measurement.stages_size(), 2);
  for (const v1::StageSamples& stage : measurement.stages()) {
    EXPECT_EQ(static_cast<std::size_t>(stage.samples_ns_size()), num_calls) << stage.stage();
    EXPECT_TRUE(std::ranges::all_of(stage.samples_ns(), [](std::int64_t ns) { return ns > 0; }))
        << stage.stage();
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

void expect_configuration_carried(Device& device, v1::CacheMode cache_mode) {
  constexpr std::uint32_t kCalls = 3;
  RunnerState state(device);
  for (const kernels::Operator* op : kernels::catalogue()) {
    const v1::OperatorInfo info = device.describe(*op);
    ASSERT_GE(info.variants_size(), 2) << info.name();
    v1::RunnerOpen request;
    request.set_operator_name(info.name());
    *request.mutable_workload() = small_workload(*op);
    request.mutable_baseline()->set_variant(info.variants(0).name());
    request.mutable_candidate()->set_variant(info.variants(1).name());
    request.set_cache_mode(cache_mode);
    request.set_num_calls(kCalls);
    Session session(state, *op);
    const auto opened = session.open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << opened->baseline().bits().detail();
    EXPECT_EQ(opened->candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << opened->candidate().bits().detail();
    EXPECT_FALSE(opened->identical_code());
    EXPECT_EQ(opened->baseline().outputs(0).digest(), opened->candidate().outputs(0).digest());

    v1::RunnerTime time;
    time.set_schedule(v1::BAB);
    time.set_num_rounds(2);
    const auto timed = session.time(time);
    ASSERT_TRUE(timed.ok()) << timed.status();
    expect_samples(timed->baseline(), 2 * kCalls);
    expect_samples(timed->candidate(), 4 * kCalls);
    const auto closed = session.close();
    ASSERT_TRUE(closed.ok()) << closed.status();
    EXPECT_FALSE(closed->candidate().has_bits()) << closed->candidate().bits().detail();
  }
}

}  // namespace assay::profiler
