#include "profiler/cuda_device.h"
#include "profiler/cuda_events.h"
#include "profiler/cuda_kernels.h"
#include "profiler/cuda_probe.h"
#include "profiler/cuda_status.h"
#include "profiler/nvtx.h"
#include "proto/status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
constexpr int kCeilingRuns = 10;
constexpr std::int64_t kSinkBytes = 16;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

std::vector<std::string> stage_names(const ArmPlan& arm) {
  std::vector<std::string> names;
  for (const StagePlan& stage : arm.stages) {
    names.push_back(stage.name);
  }
  return names;
}

absl::Status take_block(CollectedBlock block, BlockTimes& times) {
  if (block.num_kernels == 0) {
    return absl::FailedPreconditionError(
        "no kernel of the block was recorded: none was launched, or CUPTI records none of this "
        "process");
  }
  times.stages = std::move(block.stages);
  times.num_invalid_records = block.num_invalid_records;
  times.num_dropped_records = block.num_dropped_records;
  times.num_elsewhere = block.num_elsewhere;
  times.traced.mutable_spans()->Assign(block.spans.begin(), block.spans.end());
  return absl::OkStatus();
}

absl::Status CudaDevice::prepare_timing() {
  ASSAY_RETURN_IF_ERROR(wait());
  ASSAY_RETURN_IF_CUDA_ERROR(cudaCtxResetPersistingL2Cache());
  return absl::OkStatus();
}

absl::Status CudaDevice::ready_flush() {
  if (flush_memory_ != nullptr) {
    return absl::OkStatus();
  }
  const auto num_bytes = static_cast<std::size_t>(flush_bytes());
  ASSAY_ASSIGN_OR_RETURN(flush_memory_, allocate(2 * flush_bytes() + kSinkBytes));
  ASSAY_RETURN_IF_CUDA_ERROR(
      launch_flush(flush_memory_.get() + num_bytes, num_bytes, ++flush_seed_, stream_.get()));
  return absl::OkStatus();
}

// New random bytes push everything out, and reading others drains what was written, so that no call
// pays for writing it back.
absl::Status CudaDevice::flush() {
  ASSAY_RETURN_IF_ERROR(ready_flush());
  const auto num_bytes = static_cast<std::size_t>(flush_bytes());
  std::byte* const memory = flush_memory_.get();
  ASSAY_RETURN_IF_CUDA_ERROR(launch_flush(memory, num_bytes, ++flush_seed_, stream_.get()));
  ASSAY_RETURN_IF_CUDA_ERROR(
      launch_cached_read(memory + num_bytes,
                         num_bytes,
                         reinterpret_cast<std::uint32_t*>(memory + 2 * num_bytes),
                         num_multiprocessors(),
                         stream_.get()));
  return absl::OkStatus();
}

absl::Status CudaDevice::launch_calls(const BlockRequest& request) {
  kernels::Call call = {.problem = request.problem, .parameters = request.arm->parameters};
  const NvtxRange arm_range(request.label);
  for (std::uint32_t index = 0; index < request.num_calls; ++index) {
    call.tensors = request.sets[(request.first_set + index) % request.sets.size()];
    if (request.flush) {
      ASSAY_RETURN_IF_ERROR(flush());
    }
    const NvtxRange call_range("call");
    for (std::size_t stage = 0; stage < request.arm->stages.size(); ++stage) {
      const StagePlan& plan = request.arm->stages[stage];
      const NvtxRange stage_range(plan.name.c_str());
      ASSAY_RETURN_IF_ERROR(cupti_->push(index, stage));
      const absl::Status launched = plan.launch(call);
      ASSAY_RETURN_IF_ERROR(cupti_->pop());
      ASSAY_RETURN_IF_ERROR(launched);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockTimes> CudaDevice::time_block(const BlockRequest& request) {
  if (cupti_ == nullptr) {
    return limits_.activity;
  }
  // All streams: what an arm left on one of its own must not count as the next one's.
  ASSAY_RETURN_IF_CUDA_ERROR(cudaDeviceSynchronize());
  ASSAY_RETURN_IF_CUDA_ERROR(cudaCtxResetPersistingL2Cache());
  const std::vector<std::string> stages = stage_names(*request.arm);
  ASSAY_RETURN_IF_ERROR(cupti_->begin(request.num_calls, stages, request.is_traced));
  const DeviceState before = read_state(nvml_.get());
  BlockTimes times;
  times.block.set_started_ns(now_ns());
  times.block.set_num_calls(request.num_calls);
  ASSAY_RETURN_IF_ERROR(launch_calls(request));
  // The calls are enqueued and most are still to run.
  const DeviceState during = read_state(nvml_.get());
  ASSAY_RETURN_IF_CUDA_ERROR(cudaDeviceSynchronize());
  ASSAY_ASSIGN_OR_RETURN(CollectedBlock block, cupti_->finish());
  set_device_state(before, during, times.block);
  ASSAY_RETURN_IF_ERROR(take_block(std::move(block), times));
  return times;
}

absl::StatusOr<BlockTimes> CudaDevice::time_by_events(const BlockRequest& request) {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  ASSAY_RETURN_IF_ERROR(wait());
  ASSAY_RETURN_IF_CUDA_ERROR(cudaCtxResetPersistingL2Cache());
  const DeviceState before = read_state(nvml_.get());
  BlockTimes times;
  times.block.set_started_ns(now_ns());
  times.block.set_num_calls(request.num_calls);
  const std::size_t num_stages = request.arm->stages.size();
  std::vector<std::vector<CudaEvent>> events(request.num_calls);
  kernels::Call call = {.problem = request.problem, .parameters = request.arm->parameters};
  const NvtxRange arm_range(request.label);
  for (std::uint32_t index = 0; index < request.num_calls; ++index) {
    call.tensors = request.sets[(request.first_set + index) % request.sets.size()];
    if (request.flush) {
      ASSAY_RETURN_IF_ERROR(flush());
    }
    const NvtxRange call_range("call");
    ASSAY_ASSIGN_OR_RETURN(events[index].emplace_back(), record_event(stream_.get()));
    for (const StagePlan& stage : request.arm->stages) {
      const NvtxRange stage_range(stage.name.c_str());
      ASSAY_RETURN_IF_ERROR(stage.launch(call));
      ASSAY_ASSIGN_OR_RETURN(events[index].emplace_back(), record_event(stream_.get()));
    }
  }
  const DeviceState during = read_state(nvml_.get());
  ASSAY_RETURN_IF_ERROR(wait());
  set_device_state(before, during, times.block);

  times.stages.resize(num_stages + 1);
  for (std::size_t stage = 0; stage < num_stages; ++stage) {
    times.stages[stage].set_stage(request.arm->stages[stage].name);
    for (const std::vector<CudaEvent>& of_call : events) {
      ASSAY_ASSIGN_OR_RETURN(const std::int64_t stage_ns,
                             elapsed_ns(of_call[stage], of_call[stage + 1]));
      times.stages[stage].add_samples_ns(stage_ns);
    }
  }
  times.stages[num_stages].set_stage("total");
  for (const std::vector<CudaEvent>& of_call : events) {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t total_ns,
                           elapsed_ns(of_call.front(), of_call.back()));
    times.stages[num_stages].add_samples_ns(total_ns);
  }
  return times;
}

absl::Status CudaDevice::measure_ceiling() {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  const std::int64_t num_bytes =
      std::max(8 * limits_.cache_bytes, std::min(limits_.rotation_bytes, kGibibyte)) / 16 * 16;
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory memory, allocate(num_bytes));
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory sink, allocate(sizeof(std::uint32_t)));
  ASSAY_RETURN_IF_ERROR(fill(memory.get(), std::byte{1}, num_bytes));
  for (int run = 0; run < kCeilingRuns; ++run) {
    ASSAY_ASSIGN_OR_RETURN(const CudaEvent begin, record_event(stream_.get()));
    ASSAY_RETURN_IF_CUDA_ERROR(launch_read(memory.get(),
                                           static_cast<std::size_t>(num_bytes),
                                           reinterpret_cast<std::uint32_t*>(sink.get()),
                                           static_cast<int>(description_.num_multiprocessors()),
                                           stream_.get()));
    ASSAY_ASSIGN_OR_RETURN(const CudaEvent end, record_event(stream_.get()));
    ASSAY_RETURN_IF_ERROR(wait());
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t read_ns, elapsed_ns(begin, end));
    if (read_ns > 0) {
      ceiling_bytes_per_ns_ = std::max(
          ceiling_bytes_per_ns_, static_cast<double>(num_bytes) / static_cast<double>(read_ns));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> CudaDevice::floor_ns(std::int64_t num_bytes) {
  if (ceiling_bytes_per_ns_ == 0) {
    const absl::Status status = measure_ceiling();
    // Without the memory to measure there is no ceiling, and no harm.
    if (!status.ok() && !absl::IsResourceExhausted(status)) {
      return status;
    }
  }
  return ceiling_bytes_per_ns_ > 0
             ? std::llround(static_cast<double>(num_bytes) / ceiling_bytes_per_ns_)
             : 0;
}

}  // namespace assay::profiler
