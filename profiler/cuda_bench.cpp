#include "profiler/ceiling.h"
#include "profiler/cuda_bench_kernels.h"
#include "profiler/cuda_device.h"
#include "profiler/cuda_events.h"
#include "profiler/cuda_kernels.h"
#include "profiler/cuda_status.h"
#include "profiler/statistics.h"
#include "proto/status.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
constexpr int kRuns = 10;
constexpr int kLaunches = 1'000;
constexpr int kControlRounds = 12;
constexpr int kControlLaunches = 20;
constexpr int kStampedRounds = 40'000;  // over 100 us on any device so far
constexpr std::int64_t kComputeRun_ns = 5'000'000;

using Launch = std::function<cudaError_t(cudaStream_t stream)>;

// By events, between the first launch and the end of the last.
absl::StatusOr<std::int64_t> time_launches(const Launch& launch, int count, cudaStream_t stream) {
  ASSAY_ASSIGN_OR_RETURN(const CudaEvent begin, record_event(stream));
  for (int i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_CUDA_ERROR(launch(stream));
  }
  ASSAY_ASSIGN_OR_RETURN(const CudaEvent end, record_event(stream));
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  return elapsed_ns(begin, end);
}

// The least of several runs.
absl::StatusOr<std::int64_t> least_ns(const Launch& launch, int count, cudaStream_t stream) {
  std::int64_t least = 0;
  for (int run = 0; run < kRuns; ++run) {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t run_ns, time_launches(launch, count, stream));
    least = least == 0 ? run_ns : std::min(least, run_ns);
  }
  return std::max<std::int64_t>(least, 1);
}

double per_second(double amount, std::int64_t duration_ns) {
  return amount / static_cast<double>(duration_ns) * 1e9;
}

// The rate of a kernel whose length is a number of rounds, on runs that are long enough.
absl::StatusOr<double> compute_rate(
    const std::function<cudaError_t(int num_rounds, double* num_flops)>& launch,
    cudaStream_t stream) {
  int num_rounds = 64;
  double num_flops = 0;
  const Launch run = [&](cudaStream_t) { return launch(num_rounds, &num_flops); };
  ASSAY_ASSIGN_OR_RETURN(std::int64_t run_ns, least_ns(run, 1, stream));
  num_rounds = static_cast<int>(std::clamp<std::int64_t>(
      num_rounds * kComputeRun_ns / run_ns, num_rounds, std::int64_t{1} << 24));
  ASSAY_ASSIGN_OR_RETURN(run_ns, least_ns(run, 1, stream));
  return per_second(num_flops, run_ns);
}

// A graph of empty kernels, one after the other.
absl::StatusOr<CudaGraphExec> empty_graph(int num_kernels, cudaStream_t stream) {
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaError_t launched = cudaSuccess;
  for (int i = 0; i < num_kernels && launched == cudaSuccess; ++i) {
    launched = launch_empty(stream);
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  const CudaGraph owner(graph);
  ASSAY_RETURN_IF_CUDA_ERROR(launched);
  ASSAY_RETURN_IF_CUDA_ERROR(ended);
  cudaGraphExec_t executable = nullptr;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGraphInstantiate(&executable, graph, 0));
  return CudaGraphExec(executable);
}

absl::StatusOr<double> median_of(const std::vector<double>& samples) {
  return median(std::span(samples));
}

}  // namespace

absl::Status CudaDevice::bench_memory(std::vector<v1::Ceiling>& ceilings) {
  ceiling_bytes_per_ns_ = 0;
  ASSAY_RETURN_IF_ERROR(measure_ceiling());
  ceilings.push_back(
      make_ceiling(kReadCeiling, ceiling_bytes_per_ns_ * 1e9, "bytes/s", "reading device memory"));
  const std::int64_t num_bytes = std::min(limits_.rotation_bytes / 2, kGibibyte) / 16 * 16;
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory from, allocate(num_bytes));
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory to, allocate(num_bytes));
  ASSAY_RETURN_IF_CUDA_ERROR(
      launch_flush(from.get(), static_cast<std::size_t>(num_bytes), 1, stream_.get()));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t copy_ns,
                         least_ns(
                             [&](cudaStream_t stream) {
                               return launch_copy(to.get(),
                                                  from.get(),
                                                  static_cast<std::size_t>(num_bytes),
                                                  num_multiprocessors(),
                                                  stream);
                             },
                             1,
                             stream_.get()));
  ceilings.push_back(make_ceiling(kCopyCeiling,
                                  per_second(2.0 * static_cast<double>(num_bytes), copy_ns),
                                  "bytes/s",
                                  "copying within device memory, read and written"));
  return absl::OkStatus();
}

absl::Status CudaDevice::bench_arithmetic(std::vector<v1::Ceiling>& ceilings) {
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory memory, allocate(sizeof(float)));
  auto* sink = reinterpret_cast<float*>(memory.get());
  ASSAY_ASSIGN_OR_RETURN(
      const double fp32,
      compute_rate(
          [&](int num_rounds, double* num_flops) {
            return launch_fp32(sink, num_rounds, num_multiprocessors(), num_flops, stream_.get());
          },
          stream_.get()));
  ceilings.push_back(make_ceiling("fp32", fp32, "flop/s", "fused multiply-adds in fp32"));
  if (compute_capability_ < 80) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const double bf16,
                         compute_rate(
                             [&](int num_rounds, double* num_flops) {
                               return launch_bf16(sink,
                                                  num_rounds,
                                                  num_multiprocessors(),
                                                  compute_capability_,
                                                  num_flops,
                                                  stream_.get());
                             },
                             stream_.get()));
  ceilings.push_back(
      make_ceiling("bf16", bf16, "flop/s", "bf16 on tensor cores, dense, summed in fp32"));
  return absl::OkStatus();
}

absl::Status CudaDevice::bench_launches(std::vector<v1::Ceiling>& ceilings) {
  ASSAY_ASSIGN_OR_RETURN(std::int64_t run_ns, least_ns(launch_empty, kLaunches, stream_.get()));
  ceilings.push_back(make_ceiling(kLaunchCeiling,
                                  static_cast<double>(run_ns) / kLaunches,
                                  "ns",
                                  "from one kernel that does nothing to the next, in a stream"));
  for (const auto& [name, num_kernels, help] :
       {std::tuple("graph_kernel", kLaunches, "from one to the next within a graph"),
        std::tuple("graph_launch", 1, "from one graph of one such kernel to the next")}) {
    ASSAY_ASSIGN_OR_RETURN(const CudaGraphExec graph, empty_graph(num_kernels, stream_.get()));
    const int count = kLaunches / num_kernels;
    const Launch replay = [&](cudaStream_t stream) { return cudaGraphLaunch(graph.get(), stream); };
    ASSAY_ASSIGN_OR_RETURN(run_ns, least_ns(replay, count, stream_.get()));
    ceilings.push_back(make_ceiling(name, static_cast<double>(run_ns) / kLaunches, "ns", help));
  }
  if (cupti_ == nullptr) {
    return absl::OkStatus();
  }
  const std::vector<std::string> stage = {"empty"};
  ASSAY_RETURN_IF_ERROR(cupti_->begin(kLaunches, stage, false));
  for (std::uint32_t call = 0; call < kLaunches; ++call) {
    ASSAY_RETURN_IF_ERROR(cupti_->push(call, 0));
    const cudaError_t launched = launch_empty(stream_.get());
    ASSAY_RETURN_IF_ERROR(cupti_->pop());
    ASSAY_RETURN_IF_CUDA_ERROR(launched);
  }
  ASSAY_RETURN_IF_ERROR(wait());
  ASSAY_ASSIGN_OR_RETURN(const CollectedBlock block, cupti_->finish());
  const auto& samples = block.stages.front().samples_ns();
  ASSAY_ASSIGN_OR_RETURN(
      const double kernel_ns,
      median(std::span(samples.data(), static_cast<std::size_t>(samples.size()))));
  ceilings.push_back(
      make_ceiling("kernel", kernel_ns, "ns", "a kernel that does nothing, by its own activity"));
  return absl::OkStatus();
}

// Off, on, off, in rounds, so that a drift of the clock counts for neither.
absl::Status CudaDevice::bench_activity(std::vector<v1::Ceiling>& ceilings) {
  if (cupti_ == nullptr) {
    return absl::OkStatus();
  }
  constexpr std::int64_t kBytes = sizeof(KernelStamp) * kControlLaunches;
  ASSAY_ASSIGN_OR_RETURN(const DeviceMemory memory, allocate(kBytes));
  auto* stamps = reinterpret_cast<KernelStamp*>(memory.get());
  const std::vector<std::string> stage = {"stamped"};
  std::vector<double> ratios;
  std::vector<double> beyond;
  for (int round = 0; round < kControlRounds; ++round) {
    std::array<double, 3> legs_ns = {};
    for (std::size_t leg = 0; leg < legs_ns.size(); ++leg) {
      const bool is_on = leg == 1;
      std::vector<KernelStamp> found(kControlLaunches, {~0ULL, 0});
      const auto bytes = std::as_writable_bytes(std::span(found));
      ASSAY_RETURN_IF_ERROR(write(memory.get(), bytes));
      ASSAY_RETURN_IF_ERROR(is_on ? cupti_->begin(kControlLaunches, stage, false)
                                  : cupti_->pause());
      for (std::uint32_t call = 0; call < kControlLaunches; ++call) {
        if (is_on) {
          ASSAY_RETURN_IF_ERROR(cupti_->push(call, 0));
        }
        const cudaError_t launched =
            launch_stamped(stamps + call, kStampedRounds, num_multiprocessors(), stream_.get());
        if (is_on) {
          ASSAY_RETURN_IF_ERROR(cupti_->pop());
        }
        ASSAY_RETURN_IF_CUDA_ERROR(launched);
      }
      ASSAY_RETURN_IF_ERROR(wait());
      ASSAY_RETURN_IF_ERROR(read(bytes, memory.get()));
      std::vector<double> spans_ns;
      for (const KernelStamp& stamp : found) {
        spans_ns.push_back(static_cast<double>(stamp.last_ns - stamp.first_ns));
      }
      ASSAY_ASSIGN_OR_RETURN(legs_ns[leg], median_of(spans_ns));
      if (is_on) {
        ASSAY_ASSIGN_OR_RETURN(const CollectedBlock block, cupti_->finish());
        for (std::size_t call = 0; call < spans_ns.size(); ++call) {
          const auto activity_ns = block.stages.front().samples_ns(static_cast<int>(call));
          beyond.push_back(static_cast<double>(activity_ns) - spans_ns[call]);
        }
      }
    }
    ratios.push_back(legs_ns[1] / ((legs_ns[0] + legs_ns[2]) / 2));
  }
  ASSAY_ASSIGN_OR_RETURN(const double ratio, median_of(ratios));
  ASSAY_ASSIGN_OR_RETURN(const double beyond_ns, median_of(beyond));
  ceilings.push_back(make_ceiling(
      "activity_cost",
      ratio - 1,
      "share",
      "what recording activity adds to a kernel of over 100 us, by the device's timer"));
  ceilings.push_back(make_ceiling(
      "activity_beyond", beyond_ns, "ns", "activity's duration less the kernel's own stamps"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Ceiling>> CudaDevice::bench() {
  if (cupti_ != nullptr) {
    ASSAY_RETURN_IF_ERROR(cupti_->pause());
  }
  std::vector<v1::Ceiling> ceilings;
  ASSAY_RETURN_IF_ERROR(bench_memory(ceilings));
  ASSAY_RETURN_IF_ERROR(bench_arithmetic(ceilings));
  ASSAY_RETURN_IF_ERROR(bench_launches(ceilings));
  ASSAY_RETURN_IF_ERROR(bench_activity(ceilings));
  return ceilings;
}

}  // namespace assay::profiler
