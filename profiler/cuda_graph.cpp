#include "profiler/block_plan.h"
#include "profiler/cuda_device.h"
#include "profiler/cuda_events.h"
#include "profiler/cuda_probe.h"
#include "profiler/cuda_status.h"
#include "profiler/nvtx.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <unordered_set>
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

// The nodes that a capture has got since it was last asked, from the stream's end backwards.
class CapturedNodes {
 public:
  explicit CapturedNodes(cudaStream_t stream) : stream_(stream) {}

  absl::StatusOr<std::vector<cudaGraphNode_t>> take_new() {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* ends = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t num_ends = 0;
    ASSAY_RETURN_IF_CUDA_ERROR(
        cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &ends, &edges, &num_ends));
    std::vector<cudaGraphNode_t> found;
    for (std::size_t i = 0; i < num_ends; ++i) {
      add(ends[i], found);
    }
    for (std::size_t next = 0; next < found.size(); ++next) {
      ASSAY_RETURN_IF_ERROR(add_dependencies(found[next], found));
    }
    return found;
  }

 private:
  void add(cudaGraphNode_t node, std::vector<cudaGraphNode_t>& found) {
    if (seen_.insert(node).second) {
      found.push_back(node);
    }
  }

  absl::Status add_dependencies(cudaGraphNode_t node, std::vector<cudaGraphNode_t>& found) {
    std::size_t num = 0;
    ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &num));
    std::vector<cudaGraphNode_t> nodes(num);
    std::vector<cudaGraphEdgeData> edges(num);
    if (num > 0) {
      ASSAY_RETURN_IF_CUDA_ERROR(
          cudaGraphNodeGetDependencies(node, nodes.data(), edges.data(), &num));
    }
    for (cudaGraphNode_t each : nodes) {
      add(each, found);
    }
    return absl::OkStatus();
  }

  cudaStream_t stream_;
  std::unordered_set<cudaGraphNode_t> seen_;
};

// Which call and stage the new nodes are of.
absl::Status add_places(CapturedNodes& nodes,
                        const CuptiActivity& cupti,
                        const NodePlace& place,
                        NodePlaces& places) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<cudaGraphNode_t> found, nodes.take_new());
  for (cudaGraphNode_t node : found) {
    ASSAY_ASSIGN_OR_RETURN(const std::uint64_t id, cupti.node_id(node));
    places[id] = place;
  }
  return absl::OkStatus();
}

// Those of the nodes that an instantiation made of the captured ones.
NodePlaces places_of_clones(CuptiActivity& cupti, const NodePlaces& captured) {
  NodePlaces places;
  for (const auto& [clone, original] : cupti.take_clones()) {
    if (const auto found = captured.find(original); found != captured.end()) {
      places[clone] = found->second;
    }
  }
  // Where instantiating makes no new ids.
  return places.empty() ? captured : places;
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
              NodePlaces places,
              CuptiActivity* cupti,
              const Nvml* nvml)
      : graph_(std::move(graph)),
        places_(std::move(places)),
        stages_(stage_names(*request.arm)),
        num_calls_(request.num_calls),
        label_(request.label),
        stream_(stream),
        cupti_(cupti),
        nvml_(nvml) {}

  absl::StatusOr<BlockTimes> time_replays(std::uint32_t num_replays) override;
  absl::StatusOr<BlockTimes> time_by_activity(std::uint32_t num_replays, bool is_traced) override;

 private:
  CudaGraphExec graph_;
  NodePlaces places_;
  std::vector<std::string> stages_;
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
  ASSAY_RETURN_IF_CUDA_ERROR(cudaCtxResetPersistingL2Cache());
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

absl::StatusOr<BlockTimes> CudaReplays::time_by_activity(std::uint32_t num_replays,
                                                         bool is_traced) {
  if (cupti_ == nullptr) {
    return absl::UnimplementedError("the device has no times of single kernels");
  }
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
  ASSAY_RETURN_IF_CUDA_ERROR(cudaCtxResetPersistingL2Cache());
  const NvtxRange range(label_);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphLaunch(graph_.get(), stream_));
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
  ASSAY_RETURN_IF_ERROR(
      cupti_->begin_replays(num_replays, num_calls_, stages_, places_, is_traced));
  const DeviceState before = read_state(nvml_);
  BlockTimes times;
  times.block.set_started_ns(now_ns());
  times.block.set_num_calls(num_replays * num_calls_);
  for (std::uint32_t replay = 0; replay < num_replays; ++replay) {
    ASSAY_RETURN_IF_ERROR(cupti_->push_replay(replay));
    const cudaError_t launched = cudaGraphLaunch(graph_.get(), stream_);
    ASSAY_RETURN_IF_ERROR(cupti_->pop());
    ASSAY_RETURN_IF_CUDA_ERROR(launched);
  }
  const DeviceState during = read_state(nvml_);
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
  ASSAY_ASSIGN_OR_RETURN(CollectedBlock block, cupti_->finish());
  set_device_state(before, during, times.block);
  ASSAY_RETURN_IF_ERROR(take_block(std::move(block), times));
  return times;
}

}  // namespace

// Launchers' own messages name their stage.
absl::StatusOr<CudaGraph> CudaDevice::capture_calls(const BlockRequest& request,
                                                    NodePlaces& places) {
  kernels::Call call = {.problem = request.problem, .parameters = request.arm->parameters};
  Capture capture(stream_.get());
  ASSAY_RETURN_IF_ERROR(capture.begin());
  CapturedNodes nodes(stream_.get());
  for (std::uint32_t index = 0; index < request.num_calls; ++index) {
    call.tensors = request.sets[(request.first_set + index) % request.sets.size()];
    if (request.flush) {
      ASSAY_RETURN_IF_ERROR(flush());
      ASSAY_RETURN_IF_ERROR(nodes.take_new().status());
    }
    for (std::size_t stage = 0; stage < request.arm->stages.size(); ++stage) {
      const StagePlan& plan = request.arm->stages[stage];
      if (const absl::Status status = plan.launch(call); !status.ok()) {
        return proto::annotate(status, absl::StrCat("stage ", plan.name));
      }
      if (cupti_ != nullptr) {
        ASSAY_RETURN_IF_ERROR(add_places(nodes, *cupti_, {index, stage}, places));
      }
    }
  }
  return capture.end();
}

absl::StatusOr<std::unique_ptr<CapturedCalls>> CudaDevice::capture(const BlockRequest& request) {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  if (request.flush) {
    ASSAY_RETURN_IF_ERROR(ready_flush());
  }
  ASSAY_RETURN_IF_ERROR(wait());
  NodePlaces places;
  auto graph = capture_calls(request, places);
  if (!graph.ok()) {
    return not_captured(*request.arm, graph.status());
  }
  if (cupti_ != nullptr) {
    cupti_->take_clones();
  }
  auto executable = instantiate(graph->get(), stream_.get());
  if (!executable.ok()) {
    return not_captured(*request.arm, executable.status());
  }
  if (cupti_ != nullptr) {
    places = places_of_clones(*cupti_, places);
  }
  ASSAY_RETURN_IF_ERROR(wait());
  return std::make_unique<CudaReplays>(
      *std::move(executable), request, stream_.get(), std::move(places), cupti_.get(), nvml_.get());
}

}  // namespace assay::profiler
