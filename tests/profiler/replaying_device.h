// The cpu device with graphs whose replays run their calls and last as long as a test says.
#pragma once

#include "profiler/device.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace assay::profiler {

class ReplayingDevice : public Device {
 public:
  explicit ReplayingDevice(std::int64_t private_cache_bytes)
      : cpu_(make_cpu_device(private_cache_bytes)), limits_(cpu_->limits()) {
    limits_.has_graphs = true;
  }

  std::int64_t call_ns = 500'000;
  std::uint32_t least_calls = 0;       // a replay of fewer has no time
  absl::Status captured;               // what capture() says
  std::vector<BlockRequest> captures;  // what it was asked
  std::vector<void* const*> calls;     // the sets of all calls of replays, in order
  int num_stream_blocks = 0;
  int num_traced_replays = 0;  // by activity
  // What count() does; null: it has no counters.
  std::function<absl::StatusOr<std::vector<v1::KernelCounters>>(const BlockRequest&,
                                                                std::span<const std::string>)>
      counting;

  DeviceLimits& mutable_limits() { return limits_; }

  v1::Device description() override { return cpu_->description(); }

  const DeviceLimits& limits() const override { return limits_; }

  v1::OperatorInfo describe(const kernels::Operator& op) const override {
    return cpu_->describe(op);
  }

  absl::StatusOr<ArmPlan> plan(const kernels::Operator& op, const v1::Arm& arm) const override {
    return cpu_->plan(op, arm);
  }

  absl::StatusOr<ArmPlan> plan_mutant(const kernels::Operator& op,
                                      std::string_view name) const override {
    return cpu_->plan_mutant(op, name);
  }

  absl::StatusOr<v1::Workload> mutant_workload(const kernels::Operator& op,
                                               std::string_view name) const override {
    return cpu_->mutant_workload(op, name);
  }

  absl::StatusOr<DeviceMemory> allocate(std::int64_t num_bytes) override {
    return cpu_->allocate(num_bytes);
  }

  absl::Status write(std::byte* to, std::span<const std::byte> from) override {
    return cpu_->write(to, from);
  }

  absl::Status read(std::span<std::byte> to, const std::byte* from) override {
    return cpu_->read(to, from);
  }

  absl::Status copy(std::byte* to, const std::byte* from, std::int64_t num_bytes) override {
    return cpu_->copy(to, from, num_bytes);
  }

  absl::Status fill(std::byte* to, std::byte value, std::int64_t num_bytes) override {
    return cpu_->fill(to, value, num_bytes);
  }

  absl::Status run(const ArmPlan& arm, const kernels::Call& call, absl::Status& finished) override {
    return cpu_->run(arm, call, finished);
  }

  absl::Status prepare_timing() override { return absl::OkStatus(); }

  absl::StatusOr<BlockTimes> time_block(const BlockRequest& request) override {
    ++num_stream_blocks;
    return cpu_->time_block(request);
  }

  absl::StatusOr<std::unique_ptr<CapturedCalls>> capture(const BlockRequest& request) override;

  absl::StatusOr<BlockTimes> time_by_events(const BlockRequest& request) override {
    return time_block(request);
  }

  absl::StatusOr<std::vector<v1::Ceiling>> bench() override { return cpu_->bench(); }

  absl::StatusOr<std::vector<v1::KernelCounters>> count(
      const BlockRequest& request, std::span<const std::string> counters) override {
    return counting == nullptr ? Device::count(request, counters) : counting(request, counters);
  }

  absl::StatusOr<std::int64_t> floor_ns(std::int64_t num_bytes) override { return num_bytes; }

  std::string code_digest(const ArmPlan& arm,
                          std::span<const v1::KernelResources> resources) const override {
    return cpu_->code_digest(arm, resources);
  }

  void spin() override {}

 private:
  class Replays;

  std::unique_ptr<Device> cpu_;
  DeviceLimits limits_;
};

class ReplayingDevice::Replays : public CapturedCalls {
 public:
  Replays(ReplayingDevice& device, const BlockRequest& request)
      : device_(device), request_(request) {}

  absl::StatusOr<BlockTimes> time_replays(std::uint32_t num_replays) override {
    BlockTimes times;
    times.block.set_num_calls(num_replays * request_.num_calls);
    times.block.set_calls_per_sample(request_.num_calls);
    times.stages.emplace_back().set_stage("total");
    if (absl::Status status = replay(num_replays); !status.ok()) {
      return status;
    }
    for (std::uint32_t replay = 0; replay < num_replays; ++replay) {
      times.stages[0].add_samples_ns(request_.num_calls < device_.least_calls ? 0
                                                                              : device_.call_ns);
    }
    return times;
  }

  absl::StatusOr<BlockTimes> time_by_activity(std::uint32_t num_replays, bool is_traced) override {
    if (!device_.limits_.activity.ok()) {
      return absl::UnimplementedError("no activity");
    }
    ++device_.num_traced_replays;
    if (absl::Status status = replay(num_replays); !status.ok()) {
      return status;
    }
    BlockTimes times;
    times.block.set_num_calls(num_replays * request_.num_calls);
    times.stages.emplace_back().set_stage("total");
    for (std::uint32_t call = 0; call < times.block.num_calls(); ++call) {
      times.stages[0].add_samples_ns(device_.call_ns);
      if (is_traced) {
        v1::KernelSpan& span = *times.traced.add_spans();
        span.set_call(call);
        span.set_start_ns(call * device_.call_ns);
        span.set_end_ns((call + 1) * device_.call_ns);
      }
    }
    return times;
  }

 private:
  absl::Status replay(std::uint32_t num_replays) {
    kernels::Call call = {.problem = request_.problem, .parameters = request_.arm->parameters};
    for (std::uint32_t index = 0; index < (num_replays + 1) * request_.num_calls; ++index) {
      const std::uint32_t place = index % request_.num_calls;
      call.tensors = request_.sets[(request_.first_set + place) % request_.sets.size()];
      device_.calls.push_back(call.tensors);
      for (const StagePlan& stage : request_.arm->stages) {
        if (absl::Status status = stage.launch(call); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  ReplayingDevice& device_;
  BlockRequest request_;
};

inline absl::StatusOr<std::unique_ptr<CapturedCalls>> ReplayingDevice::capture(
    const BlockRequest& request) {
  captures.push_back(request);
  if (!captured.ok()) {
    return captured;
  }
  return std::make_unique<Replays>(*this, request);
}

}  // namespace assay::profiler
