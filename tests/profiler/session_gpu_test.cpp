#include "profiler/cuda_handles.h"
#include "profiler/cuda_kernels.h"
#include "profiler/session.h"
#include "tests/profiler/catalogue_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

class SessionGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = make_cuda_device(0);
    if (!device.ok()) {
      GTEST_SKIP() << "no CUDA device: " << device.status();
    }
    device_ = *std::move(device);
  }

  // The first variant of qsa_decode on its first named workload.
  static v1::RunnerOpen one_arm(Device& device, const kernels::Operator& op) {
    v1::RunnerOpen request;
    request.set_operator_name(std::string(op.name));
    *request.mutable_workload() = settings_workload(op.workloads[0].axes);
    request.mutable_baseline()->set_variant(device.describe(op).variants(0).name());
    request.set_num_calls(3);
    return request;
  }

  static void expect_timed(Session& session) {
    v1::RunnerTime time;
    time.set_schedule(v1::BAB);
    time.set_num_rounds(1);
    const auto timed = session.time(time);
    ASSERT_TRUE(timed.ok()) << timed.status();
    ASSERT_FALSE(timed->baseline().stages().empty());
    for (const v1::StageSamples& stage : timed->baseline().stages()) {
      EXPECT_GT(std::ranges::min(stage.samples_ns()), 0) << stage.stage();
    }
    EXPECT_EQ(timed->baseline().num_invalid_records(), 0U);
  }

  std::unique_ptr<Device> device_;
};

double value_of(const v1::KernelCounters& kernel, const std::string& name) {
  const auto found = std::ranges::find(kernel.metrics(), name, &v1::Metric::name);
  return found == kernel.metrics().end() ? -1 : found->value();
}

TEST_F(SessionGpuTest, TimesKernelsByActivityAndKnowsItsClocks) {
  const v1::Device description = device_->description();
  for (const v1::Capability& capability : description.capabilities()) {
    EXPECT_TRUE(capability.available()) << capability.name() << ": " << capability.reason();
  }
  EXPECT_EQ(device_->limits().timing_source, v1::CUPTI_ACTIVITY);
}

TEST_F(SessionGpuTest, RejectsEveryMutantOfTheCatalogue) {
  expect_mutants_rejected(*device_);
}

TEST_F(SessionGpuTest, CarriesAConfigurationOfEveryOperatorHot) {
  expect_configuration_carried(*device_, v1::HOT);
}

TEST_F(SessionGpuTest, CarriesAConfigurationOfEveryOperatorCold) {
  expect_configuration_carried(*device_, v1::COLD);
}

TEST_F(SessionGpuTest, CarriesAGraphOfEveryOperatorHot) {
  expect_configuration_carried(*device_, v1::HOT, v1::GRAPH);
}

TEST_F(SessionGpuTest, CarriesAGraphOfEveryOperatorCold) {
  expect_configuration_carried(*device_, v1::COLD, v1::GRAPH);
}

TEST_F(SessionGpuTest, CarriesAGraphOfEveryOperatorKernelByKernel) {
  expect_configuration_carried(*device_, v1::COLD, v1::GRAPH, v1::CUPTI_ACTIVITY);
}

TEST_F(SessionGpuTest, CarriesAConfigurationOfEveryOperatorByEvents) {
  expect_configuration_carried(*device_, v1::COLD, v1::STREAM, v1::CUDA_EVENTS);
}

// A variant whose stages replay graphs of its own: three kernels and one.
class OwnGraphs {
 public:
  OwnGraphs() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    stream_.reset(stream);
    arm_.arm.set_variant("own_graphs");
    add_stage("three", 3);
    add_stage("one", 1);
  }

  BlockRequest request(std::uint32_t num_calls) const {
    return {.arm = &arm_,
            .sets = {&no_tensors_, 1},
            .num_calls = num_calls,
            .is_traced = true,
            .label = "baseline"};
  }

 private:
  void add_stage(const std::string& name, int num_kernels) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    for (int i = 0; i < num_kernels; ++i) {
      EXPECT_EQ(launch_spin(kKernel_ns, stream_.get()), cudaSuccess);
    }
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_.get(), &graph), cudaSuccess);
    const CudaGraph owner(graph);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    graphs_.emplace_back(executable);
    StagePlan& stage = arm_.stages.emplace_back();
    stage.name = name;
    stage.launch = [stream = stream_.get(), executable](const kernels::Call& /*call*/) {
      const bool is_fine = cudaGraphLaunch(executable, stream) == cudaSuccess &&
                           cudaStreamSynchronize(stream) == cudaSuccess;
      return is_fine ? absl::OkStatus() : absl::InternalError("cudaGraphLaunch");
    };
  }

  static constexpr std::int64_t kKernel_ns = 20'000;

  CudaStream stream_;
  std::vector<CudaGraphExec> graphs_;
  ArmPlan arm_;
  void* const* no_tensors_ = nullptr;
};

TEST_F(SessionGpuTest, CountsEveryKernelOfAVariantThatReplaysGraphs) {
  constexpr std::uint32_t kCalls = 10;
  const OwnGraphs graphs;
  const auto times = device_->time_block(graphs.request(kCalls));
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->traced.spans_size(), 40);
  ASSERT_EQ(times->stages.size(), 4U);
  for (const v1::StageSamples& stage : times->stages) {
    ASSERT_EQ(stage.samples_ns_size(), 10) << stage.stage();
    const std::int64_t least_ns = stage.stage() == "one" ? 15'000 : 45'000;
    for (const std::int64_t sample_ns : stage.samples_ns()) {
      EXPECT_GT(sample_ns, least_ns) << stage.stage();
    }
  }
}

TEST_F(SessionGpuTest, KeepsTheKernelsOfOneBlockOutOfTheNext) {
  const OwnGraphs graphs;
  for (const std::uint32_t num_calls : {5U, 7U}) {
    // What runs between blocks is warm-up.
    ASSERT_TRUE(device_->time_by_events(graphs.request(3)).ok());
    const auto times = device_->time_block(graphs.request(num_calls));
    ASSERT_TRUE(times.ok()) << times.status();
    EXPECT_EQ(times->traced.spans_size(), static_cast<int>(4 * num_calls));
    EXPECT_EQ(times->num_dropped_records, 0U);
    for (const v1::KernelSpan& span : times->traced.spans()) {
      EXPECT_EQ(span.kernel(), "spin_kernel");
      EXPECT_GT(span.end_ns(), span.start_ns());
      EXPECT_NE(span.graph_node_id(), 0U);
    }
  }
}

TEST_F(SessionGpuTest, SaysThatABlockWithoutKernelsHasNone) {
  ArmPlan arm;
  arm.arm.set_variant("idle");
  arm.stages.emplace_back().name = "only";
  arm.stages[0].launch = [](const kernels::Call& /*call*/) { return absl::OkStatus(); };
  void* const* const no_tensors = nullptr;
  const auto times = device_->time_block(
      {.arm = &arm, .sets = {&no_tensors, 1}, .num_calls = 2, .label = "baseline"});
  ASSERT_FALSE(times.ok());
  EXPECT_NE(std::string(times.status().message()).find("no kernel of the block was recorded"),
            std::string::npos);
}

TEST_F(SessionGpuTest, HasCeilingsThatADeviceCanHave) {
  const auto ceilings = device_->bench();
  ASSERT_TRUE(ceilings.ok()) << ceilings.status();
  std::map<std::string, double> values;
  for (const v1::Ceiling& ceiling : *ceilings) {
    values[ceiling.name()] = ceiling.value();
  }
  EXPECT_GT(values["read"], 1e11);
  EXPECT_LT(values["read"], 2e13);
  EXPECT_GT(values["copy"], 1e11);
  EXPECT_LT(values["copy"], 2e13);
  EXPECT_GT(values["fp32"], 1e12);
  EXPECT_GT(values["bf16"], values["fp32"]);
  EXPECT_LT(values["bf16"], 1e16);
  EXPECT_GT(values["launch"], values["graph_kernel"]);
  EXPECT_GT(values["kernel"], 100);
  EXPECT_TRUE(values.contains("activity_cost"));
}

TEST_F(SessionGpuTest, RefusesToCaptureALauncherThatAllocatesAndStaysSound) {
  ArmPlan arm;
  arm.arm.set_variant("allocating");
  arm.stages.emplace_back().name = "only";
  arm.stages[0].launch = [this](const kernels::Call& /*call*/) {
    return device_->allocate(1 << 20).status();
  };
  void* const* const no_tensors = nullptr;
  const BlockRequest request = {
      .arm = &arm, .sets = {&no_tensors, 1}, .num_calls = 2, .label = "baseline"};
  const auto refused = device_->capture(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  const std::string message(refused.status().message());
  EXPECT_EQ(message.find("launch_mode: the calls of `allocating` cannot be captured"), 0U);
  EXPECT_NE(message.find("cudaErrorStreamCapture"), std::string::npos) << message;

  EXPECT_TRUE(device_->allocate(1 << 20).ok());
  arm.stages[0].launch = [](const kernels::Call& /*call*/) { return absl::OkStatus(); };
  const auto empty = device_->capture(request);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE((*empty)->time_replays(2).ok());
}

TEST_F(SessionGpuTest, CountsTheKernelsOfACallAndTimesByActivityAfterwards) {
  const kernels::Operator& op = *kernels::find_operator("qsa_decode");
  RunnerState state(*device_);
  v1::RunnerClose close;
  for (const char* const group : {"dram", "l2", "tensor", "occupancy"}) {
    close.add_counters(group);
  }
  for (int run = 0; run < 2; ++run) {
    Session session(state, op);
    const auto opened = session.open(one_arm(*device_, op));
    ASSERT_TRUE(opened.ok()) << opened.status();
    expect_timed(session);
    const auto closed = session.close(close);
    ASSERT_TRUE(closed.ok()) << closed.status();
    const v1::Measurement& baseline = closed->baseline();
    EXPECT_FALSE(baseline.has_bits()) << baseline.bits().detail();
    EXPECT_EQ(baseline.counters_missing(), "");
    // One entry for each kernel that the stages describe.
    EXPECT_EQ(baseline.counters_size(), opened->baseline().resources_size());
    double dram_bytes = 0;
    for (const v1::KernelCounters& kernel : baseline.counters()) {
      SCOPED_TRACE(kernel.ShortDebugString());
      EXPECT_FALSE(kernel.stage().empty());
      EXPECT_GT(value_of(kernel, "gpu__time_duration.sum"), 0);
      EXPECT_GT(value_of(kernel, "lts__t_bytes.sum"), 0);
      const double occupancy =
          value_of(kernel, "sm__warps_active.avg.pct_of_peak_sustained_active");
      EXPECT_GT(occupancy, 0);
      EXPECT_LE(occupancy, 100.5);
      dram_bytes += value_of(kernel, "dram__bytes_read.sum");
    }
    EXPECT_GT(dram_bytes, 0);
  }
}

TEST_F(SessionGpuTest, NamesAMetricThatTheChipHasNot) {
  ArmPlan arm;
  void* const* const no_tensors = nullptr;
  const BlockRequest request = {
      .arm = &arm, .sets = {&no_tensors, 1}, .num_calls = 1, .label = "baseline"};
  const std::vector<std::string> counters = {"dram__byte_read.sum"};
  const auto counted = device_->count(request, counters);
  EXPECT_EQ(counted.status().code(), absl::StatusCode::kInvalidArgument) << counted.status();
  EXPECT_NE(std::string(counted.status().message()).find("`dram__byte_read.sum`"),
            std::string::npos)
      << counted.status();
}

TEST_F(SessionGpuTest, CountsNothingOfALauncherThatGivesUpAndStaysSound) {
  ArmPlan arm;
  arm.stages.emplace_back().name = "only";
  arm.stages[0].launch = [](const kernels::Call& /*call*/) {
    return absl::InternalError("no such form");
  };
  void* const* const no_tensors = nullptr;
  const BlockRequest request = {
      .arm = &arm, .sets = {&no_tensors, 1}, .num_calls = 1, .label = "baseline"};
  const std::vector<std::string> counters = {"dram"};
  const auto counted = device_->count(request, counters);
  EXPECT_EQ(counted.status(), absl::UnavailableError("no such form"));
  EXPECT_TRUE(device_->allocate(1 << 20).ok());
}

TEST_F(SessionGpuTest, HasAReadCeilingThatADeviceCanHave) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  const auto floor_ns = device_->floor_ns(kGibibyte);
  ASSERT_TRUE(floor_ns.ok()) << floor_ns.status();
  // Between 100 GB/s and 20 TB/s.
  EXPECT_GT(*floor_ns, kGibibyte / 20'000);
  EXPECT_LT(*floor_ns, kGibibyte / 100);
}

}  // namespace
}  // namespace assay::profiler
