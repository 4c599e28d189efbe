// A CUDA device: memory and calls in cuda_device.cpp, timing in cuda_timing.cpp, the graph launch
// mode in cuda_graph.cpp, ceilings in cuda_bench.cpp, counters in cuda_count.cpp, code from source
// in cuda_source.cpp. Everything runs on one stream of its own. Kernel times come from CUPTI where
// it can be had, else from events.
#pragma once

#include "kernels/cuda_operator.h"
#include "profiler/cuda_handles.h"
#include "profiler/cupti_activity.h"
#include "profiler/cupti_counters.h"
#include "profiler/device.h"
#include "profiler/nvml.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {

void free_cuda_memory(std::byte* memory);

// What a launch asks for and its kernel's code takes; occupancy where the runtime tells it.
v1::KernelResources resources_of(const kernels::CudaKernelInfo& info,
                                 const std::string& stage,
                                 int most_warps);

std::vector<std::string> stage_names(const ArmPlan& arm);

// What activity recorded of a block. FAILED_PRECONDITION (harmless) where it recorded nothing.
absl::Status take_block(CollectedBlock block, BlockTimes& times);

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {}

  absl::Status start();

  v1::Device description() override { return description_; }

  const DeviceLimits& limits() const override { return limits_; }

  v1::OperatorInfo describe(const kernels::Operator& op) const override;

  absl::StatusOr<ArmPlan> plan(const kernels::Operator& op, const v1::Arm& arm) const override;
  absl::StatusOr<ArmPlan> plan_mutant(const kernels::Operator& op,
                                      std::string_view name) const override;
  absl::StatusOr<v1::Workload> mutant_workload(const kernels::Operator& op,
                                               std::string_view name) const override;

  absl::Status takes_source() const override { return absl::OkStatus(); }

  absl::StatusOr<std::shared_ptr<LoadedSource>> load_source(
      std::span<const std::byte> cubin) const override;
  absl::StatusOr<StagePlan> bind_source(const SourceLaunch& launch) const override;

  absl::StatusOr<DeviceMemory> allocate(std::int64_t num_bytes) override;

  absl::Status write(std::byte* to, std::span<const std::byte> from) override;

  absl::Status read(std::span<std::byte> to, const std::byte* from) override;

  absl::Status copy(std::byte* to, const std::byte* from, std::int64_t num_bytes) override;

  absl::Status fill(std::byte* to, std::byte value, std::int64_t num_bytes) override;

  absl::Status run(const ArmPlan& arm, const kernels::Call& call, absl::Status& finished) override;
  absl::Status prepare_timing() override;
  absl::StatusOr<BlockTimes> time_block(const BlockRequest& request) override;
  absl::StatusOr<std::unique_ptr<CapturedCalls>> capture(const BlockRequest& request) override;
  absl::StatusOr<BlockTimes> time_by_events(const BlockRequest& request) override;
  absl::StatusOr<std::vector<v1::Ceiling>> bench() override;
  absl::StatusOr<std::vector<v1::KernelCounters>> count(
      const BlockRequest& request, std::span<const std::string> counters) override;
  absl::StatusOr<std::int64_t> floor_ns(std::int64_t num_bytes) override;

  std::string code_digest(const ArmPlan& arm,
                          std::span<const v1::KernelResources> resources) const override;

  void spin() override;

 private:
  StagePlan bind_stage(const kernels::CudaStage& stage) const;

  absl::Status wait() const;

  absl::Status ready_flush();
  absl::Status flush();
  absl::StatusOr<CudaGraph> capture_calls(const BlockRequest& request, NodePlaces& places);
  absl::Status launch_calls(const BlockRequest& request);
  absl::StatusOr<std::vector<v1::KernelCounters>> count_stages(
      const BlockRequest& request, std::span<const std::string> counters);
  absl::StatusOr<std::vector<v1::KernelCounters>> count_stage(const BlockRequest& request,
                                                              std::size_t stage,
                                                              std::span<const std::string> metrics);
  absl::Status measure_ceiling();
  absl::Status bench_memory(std::vector<v1::Ceiling>& ceilings);
  absl::Status bench_arithmetic(std::vector<v1::Ceiling>& ceilings);
  absl::Status bench_launches(std::vector<v1::Ceiling>& ceilings);
  absl::Status bench_activity(std::vector<v1::Ceiling>& ceilings);

  // Twice the L2.
  std::int64_t flush_bytes() const { return 2 * limits_.cache_bytes / 16 * 16; }

  int num_multiprocessors() const { return static_cast<int>(description_.num_multiprocessors()); }

  int ordinal_;
  std::unique_ptr<CuptiActivity> cupti_;
  std::unique_ptr<CuptiCounters> counters_;  // from the first count() on
  std::unique_ptr<Nvml> nvml_;
  CudaStream stream_;
  DeviceMemory flush_memory_ = {nullptr, free_cuda_memory};  // what is written, then what is read
  std::uint64_t flush_seed_ = 0;
  double ceiling_bytes_per_ns_ = 0;
  int compute_capability_ = 0;
  int most_warps_ = 0;  // of a multiprocessor
  DeviceLimits limits_;
  v1::Device description_;
};

}  // namespace assay::profiler
