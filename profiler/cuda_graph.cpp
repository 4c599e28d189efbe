#include "profiler/block_plan.h"
#include "profiler/cuda_device.h"
#include "profiler/cuda_events.h"
#include "profiler/cuda_probe.h"
#include "profiler/cuda_status.h"
#include "profiler/nvtx.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// A stream that captures runs nothing until its capture is ended, whatever went wrong in between.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {}

  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  ~Capture() {
    if (stream_ != nullptr) {
      cudaGraph_t graph = nullptr;
      cudaStreamEndCapture(stream_, &graph);
      const CudaGraph owner(graph);
      // What went wrong is already told.
      cudaGetLastError();
    }
  }

  // Other threads may go on as they like; this one may not wait or allocate until the end.
  absl::Status begin() {
    ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    return absl::OkStatus();
  }

  absl::StatusOr<CudaGraph> end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph);
    CudaGraph owner(graph);
    if (error != cudaSuccess) {
      cudaGetLastError();
      return cuda_status(error, "cudaStreamEndCapture");
    }
    return owner;
  }

 private:
  cudaStream_t stream_;
};

absl::StatusOr<CudaGraph> capture_calls(const BlockRequest& request, cudaStream_t stream) {
  kernels::Call call = {.problem = request.problem, .parameters = request.arm->parameters};
  Capture capture(stream);
  ASSAY_RETURN_IF_ERROR(capture.begin());
  for (std::uint32_t index = 0; index < request.num_calls; ++index) {
    call.tensors = request.sets[(request.first_set + index) % request.sets.size()];
    for (const StagePlan& stage : request.arm->stages) {
      if (const absl::Status status = stage.launch(call); !status.ok()) {
        return proto::annotate(status, absl::StrCat("stage ", stage.name));
      }
    }
  }
  return capture.end();
}

absl::StatusOr<CudaGraphExec> instantiate(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t executable = nullptr;
  if (const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0); error != cudaSuccess) {
    cudaGetLastError();
    return cuda_status(error, "cudaGraphInstantiate");
  }
  CudaGraphExec owner(executable);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphUpload(executable, stream));
  return owner;
}

// Running out of memory is told as such.
absl::Status not_captured(const ArmPlan& arm, const absl::Status& status) {
  const std::string message = absl::StrCat("launch_mode: the calls of `",
                                           arm.arm.variant(),
                                           "` cannot be captured as a graph: ",
                                           std::string(status.message()));
  return absl::IsResourceExhausted(status) ? absl::ResourceExhaustedError(message)
                                           : absl::FailedPreconditionError(message);
}

// Whether the device has come past the event by now.
absl::StatusOr<bool> is_over(const CudaEvent& event) {
  const cudaError_t error = cudaEventQuery(event.get());
  if (error == cudaErrorNotReady) {
    // No error, but launchers would report it as theirs.
    cudaGetLastError();
    return false;
  }
  if (error != cudaSuccess) {
    return cuda_status(error, "cudaEventQuery");
  }
  return true;
}

// Refers to what the device owns.
class CudaReplays : public CapturedCalls {
 public:
  CudaReplays(CudaGraphExec graph,
              const BlockRequest& request,
              cudaStream_t stream,
              CuptiActivity* cupti,
              const Nvml* nvml)
      : graph_(std::move(graph)),
        num_calls_(request.num_calls),
        label_(request.label),
        stream_(stream),
        cupti_(cupti),
        nvml_(nvml) {}

  absl::StatusOr<BlockTimes> time_replays(std::uint32_t num_replays) override;

 private:
  CudaGraphExec graph_;
  std::uint32_t num_calls_;
  std::string label_;
  cudaStream_t stream_;
  CuptiActivity* cupti_;
  const Nvml* nvml_;
};

absl::StatusOr<BlockTimes> CudaReplays::time_replays(std::uint32_t num_replays) {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
  const DeviceState before = read_state(nvml_);
  BlockTimes times;
  times.block.set_started_ns(now_ns());
  times.block.set_num_calls(num_replays * num_calls_);
  times.block.set_calls_per_sample(num_calls_);
  std::vector<CudaEvent> events;
  std::vector<bool> is_late;
  const NvtxRange range(label_);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphLaunch(graph_.get(), stream_));
  ASSAY_ASSIGN_OR_RETURN(events.emplace_back(), record_event(stream_));
  for (std::uint32_t replay = 0; replay < num_replays; ++replay) {
    ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphLaunch(graph_.get(), stream_));
    // A device that was here before the launch has waited for the host, in the timed window.
    ASSAY_ASSIGN_OR_RETURN(const bool late, is_over(events.back()));
    is_late.push_back(late);
    ASSAY_ASSIGN_OR_RETURN(events.emplace_back(), record_event(stream_));
  }
  const DeviceState during = read_state(nvml_);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
  set_device_state(before, during, times.block);

  v1::StageSamples& total = times.stages.emplace_back();
  total.set_stage("total");
  for (std::uint32_t replay = 0; replay < num_replays; ++replay) {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t replay_ns,
                           elapsed_ns(events[replay], events[replay + 1]));
    total.add_samples_ns(is_late[replay] ? 0 : mean_call_ns(replay_ns, num_calls_));
  }
  return times;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CapturedCalls>> CudaDevice::capture(const BlockRequest& request) {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  ASSAY_RETURN_IF_ERROR(wait());
  auto graph = capture_calls(request, stream_.get());
  if (!graph.ok()) {
    return not_captured(*request.arm, graph.status());
  }
  auto executable = instantiate(graph->get(), stream_.get());
  if (!executable.ok()) {
    return not_captured(*request.arm, executable.status());
  }
  ASSAY_RETURN_IF_ERROR(wait());
  return std::make_unique<CudaReplays>(
      *std::move(executable), request, stream_.get(), cupti_.get(), nvml_.get());
}

}  // namespace assay::profiler
