// A catalogue operator's call on a CUDA device, between guard bands, and the bits that its cpu
// baseline gives for the same problem.
#pragma once

#include "kernels/cuda_operator.h"
#include "kernels/tuned/cuda_tuned.h"
#include "kernels/tuned/tuned.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay::kernels {

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, (call))

struct CudaFree {
  void operator()(std::byte* memory) const noexcept { cudaFree(memory); }
};

struct StreamDestroy {
  void operator()(cudaStream_t stream) const noexcept { cudaStreamDestroy(stream); }
};

struct GraphDestroy {
  void operator()(cudaGraphExec_t graph) const noexcept { cudaGraphExecDestroy(graph); }
};

using StreamPtr = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDestroy>;
using GraphPtr = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, GraphDestroy>;
using DevicePtr = std::unique_ptr<std::byte, CudaFree>;

inline bool has_device() {
  int num_devices = 0;
  return cudaGetDeviceCount(&num_devices) == cudaSuccess && num_devices > 0;
}

inline DevicePtr device_memory(std::size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMalloc(&memory, bytes));
  return DevicePtr(static_cast<std::byte*>(memory));
}

inline StreamPtr make_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return StreamPtr(stream);
}

// A problem with its cpu bits.
struct WantedCall {
  Workload workload;
  CpuTensors tensors;

  static WantedCall of(const Operator& op, const std::vector<Setting>& axes) {
    WantedCall wanted = {.workload = make_workload(op, axes), .tensors = {}};
    const CpuVariant& baseline = op.cpu_variants.front();
    wanted.tensors = run_variant(op, wanted.workload, baseline.name, {});
    return wanted;
  }

  const Problem& problem() const { return *tensors.problem; }
};

// Tensors on the device with room for each of several problems of the same tensors.
class DeviceCall {
 public:
  explicit DeviceCall(std::span<const WantedCall> calls) {
    for (std::size_t i = 0; i < calls.front().problem().tensors().size(); ++i) {
      std::size_t bytes = 0;
      for (const WantedCall& call : calls) {
        bytes = std::max(bytes, bytes_of(call, i));
      }
      sizes_.push_back(bytes);
      memory_.push_back(device_memory(bytes + 2 * kGuardBytes));
      pointers_.push_back(memory_.back().get() + kGuardBytes);
      EXPECT_EQ(cudaSuccess, cudaMemset(memory_.back().get(), kGuard, bytes + 2 * kGuardBytes));
    }
  }

  // Inputs of `call`; everything else as NaN.
  void load(const WantedCall& call) {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      if (call.problem().tensors()[i].role != Role::kInput) {
        EXPECT_EQ(cudaSuccess, cudaMemset(pointers_[i], kNaN, sizes_[i]));
      } else {
        EXPECT_EQ(cudaSuccess,
                  cudaMemcpy(pointers_[i],
                             call.tensors.bytes[i].data(),
                             bytes_of(call, i),
                             cudaMemcpyHostToDevice));
      }
    }
  }

  // The first output or intermediate whose live elements differ; empty: none. `leaves` as a
  // variant's row has it.
  std::string difference(const WantedCall& call,
                         const LaunchParameters& parameters,
                         bool (*leaves)(const LaunchParameters&, std::size_t)) const {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      const TensorSpec& tensor = call.problem().tensors()[i];
      const bool is_compared = tensor.role == Role::kOutput || tensor.role == Role::kIntermediate;
      if (!is_compared || (leaves != nullptr && leaves(parameters, i))) {
        continue;
      }
      std::vector<std::byte> found(bytes_of(call, i));
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(found.data(), pointers_[i], found.size(), cudaMemcpyDeviceToHost));
      const auto size = static_cast<std::size_t>(size_bytes(tensor.dtype));
      for (const ElementRange& range : call.problem().live(i)) {
        const std::size_t begin = static_cast<std::size_t>(range.begin) * size;
        const std::size_t count = static_cast<std::size_t>(range.end - range.begin) * size;
        if (std::memcmp(found.data() + begin, call.tensors.bytes[i].data() + begin, count) != 0) {
          return tensor.name;
        }
      }
    }
    return guards_are_whole() ? "" : "a guard band";
  }

  Call call_of(const WantedCall& wanted,
               const LaunchParameters& parameters,
               Trace* trace = nullptr) const {
    return {.problem = &wanted.problem(),
            .tensors = pointers_.data(),
            .parameters = parameters,
            .trace = trace};
  }

 private:
  static constexpr std::size_t kGuardBytes = 256;
  static constexpr int kGuard = 0xA5;
  static constexpr int kNaN = 0xFF;

  static std::size_t bytes_of(const WantedCall& call, std::size_t tensor) {
    return static_cast<std::size_t>(num_bytes(call.problem().tensors()[tensor]));
  }

  bool guards_are_whole() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      std::vector<std::byte> guards(2 * kGuardBytes);
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(guards.data(), memory_[i].get(), kGuardBytes, cudaMemcpyDeviceToHost));
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(guards.data() + kGuardBytes,
                           memory_[i].get() + kGuardBytes + sizes_[i],
                           kGuardBytes,
                           cudaMemcpyDeviceToHost));
      const auto is_guard = [](std::byte byte) { return byte == std::byte{kGuard}; };
      if (!std::ranges::all_of(guards, is_guard)) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::size_t> sizes_;
  std::vector<DevicePtr> memory_;
  std::vector<void*> pointers_;
};

inline void run_stages(std::span<const CudaStage> stages, const Call& call, cudaStream_t stream) {
  for (const CudaStage& stage : stages) {
    ASSERT_CUDA(stage.launch(call, stream)) << stage.name;
  }
}

// The stages of a call as a graph.
inline GraphPtr capture(std::span<const CudaStage> stages, const Call& call, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  run_stages(stages, call, stream);
  EXPECT_EQ(cudaSuccess, cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(cudaSuccess, cudaGraphInstantiate(&executable, graph, 0));
  cudaGraphDestroy(graph);
  return GraphPtr(executable);
}

inline const CudaVariant* find_variant(const Operator& op, std::string_view name) {
  const auto found = std::ranges::find(op.cuda->variants, name, &CudaVariant::name);
  return found == op.cuda->variants.end() ? nullptr : &*found;
}

// Every parameter set of a variant on one problem.
inline void expect_wanted_bits(const Operator& op,
                               std::string_view variant,
                               const std::vector<Setting>& axes,
                               const std::vector<std::vector<Setting>>& parameter_sets) {
  const CudaVariant* row = find_variant(op, variant);
  ASSERT_NE(nullptr, row);
  const WantedCall wanted = WantedCall::of(op, axes);
  DeviceCall device({&wanted, 1});
  for (const std::vector<Setting>& set : parameter_sets) {
    const LaunchParameters parameters = make_parameters(row->parameters, set);
    device.load(wanted);
    Trace trace;
    run_stages(row->stages, device.call_of(wanted, parameters, &trace), nullptr);
    ASSERT_CUDA(cudaDeviceSynchronize());
    std::string text(variant);
    for (const auto& [name, value] : set) {
      text += " " + name + "=" + value;
    }
    EXPECT_EQ("", device.difference(wanted, parameters, row->leaves)) << text;
    EXPECT_FALSE(trace.kernels.empty()) << text;
  }
}

// What `warpgroup` launches for each workload that the table has, if pairs and stages are left
// open: the same as with the table's values.
inline void expect_tuned_launches(const Operator& op) {
  const CudaVariant* row = find_variant(op, "warpgroup");
  ASSERT_NE(nullptr, row);
  for (const assay_tuned::Entry& entry : assay_tuned::kEntries) {
    if (entry.operator_name != op.name || entry.variant != row->name || !is_tuned_device()) {
      continue;
    }
    std::vector<Setting> axes;
    for (const assay_tuned::Axis& axis : entry.workload) {
      axes.emplace_back(axis.name, axis.value);
    }
    const std::unique_ptr<Problem> problem = op.make_problem(make_workload(op, axes));
    const std::vector<Setting> given = {
        {"pairs", std::string(assay_tuned::parameter(&entry, "pairs", "auto"))},
        {"stages", std::string(assay_tuned::parameter(&entry, "stages", "0"))}};
    for (const CudaStage& stage : row->stages) {
      CudaKernelInfo infos[2];
      ASSERT_CUDA(stage.launch.describe(
          {.problem = problem.get(), .parameters = make_parameters(row->parameters, {})},
          &infos[0]));
      ASSERT_CUDA(stage.launch.describe(
          {.problem = problem.get(), .parameters = make_parameters(row->parameters, given)},
          &infos[1]));
      EXPECT_EQ(infos[1].function, infos[0].function) << entry.provenance;
      EXPECT_EQ(infos[1].grid.x, infos[0].grid.x) << entry.provenance;
      EXPECT_EQ(infos[1].dynamic_shared_bytes, infos[0].dynamic_shared_bytes) << entry.provenance;
    }
  }
}

// Captured on the first problem, replayed on each of them, with tables rewritten in between.
inline void expect_graph_serves(const Operator& op,
                                std::string_view variant,
                                const std::vector<Setting>& parameter_set,
                                const std::vector<WantedCall>& calls) {
  const CudaVariant* row = find_variant(op, variant);
  ASSERT_NE(nullptr, row);
  const LaunchParameters parameters = make_parameters(row->parameters, parameter_set);
  DeviceCall device(calls);
  const StreamPtr stream = make_stream();
  const GraphPtr graph =
      capture(row->stages, device.call_of(calls.front(), parameters), stream.get());
  for (int round = 0; round < 2; ++round) {
    for (const WantedCall& call : calls) {
      device.load(call);
      ASSERT_CUDA(cudaDeviceSynchronize());
      ASSERT_CUDA(cudaGraphLaunch(graph.get(), stream.get()));
      ASSERT_CUDA(cudaStreamSynchronize(stream.get()));
      EXPECT_EQ("", device.difference(call, parameters, row->leaves)) << variant;
    }
  }
}

// The same call again and again while copies keep the memory busy.
inline void expect_same_bits_under_load(const Operator& op,
                                        std::string_view variant,
                                        const std::vector<Setting>& parameter_set,
                                        const std::vector<Setting>& axes) {
  constexpr int kRepeats = 100;
  constexpr std::size_t kCopyBytes = std::size_t{64} << 20;
  const CudaVariant* row = find_variant(op, variant);
  ASSERT_NE(nullptr, row);
  const LaunchParameters parameters = make_parameters(row->parameters, parameter_set);
  const WantedCall wanted = WantedCall::of(op, axes);
  DeviceCall device({&wanted, 1});
  const DevicePtr from = device_memory(kCopyBytes);
  const DevicePtr to = device_memory(kCopyBytes);
  const StreamPtr stream = make_stream();
  const StreamPtr other = make_stream();
  for (int i = 0; i < kRepeats; ++i) {
    device.load(wanted);
    ASSERT_CUDA(cudaDeviceSynchronize());
    ASSERT_CUDA(
        cudaMemcpyAsync(to.get(), from.get(), kCopyBytes, cudaMemcpyDeviceToDevice, other.get()));
    run_stages(row->stages, device.call_of(wanted, parameters), stream.get());
    ASSERT_CUDA(cudaDeviceSynchronize());
    ASSERT_EQ("", device.difference(wanted, parameters, row->leaves)) << variant << " run " << i;
  }
}

// Calls in turn, each behind copies on the same stream that write all of its inputs, lengths too,
// without a wait in between: what a kernel reads must not be older.
inline void expect_inputs_written_right_before(const Operator& op,
                                               std::string_view variant,
                                               const std::vector<Setting>& parameter_set,
                                               const std::vector<WantedCall>& calls) {
  constexpr std::size_t kRepeats = 200;
  const CudaVariant* row = find_variant(op, variant);
  ASSERT_NE(nullptr, row);
  const LaunchParameters parameters = make_parameters(row->parameters, parameter_set);
  const auto specs = calls.front().problem().tensors();
  const std::size_t output = static_cast<std::size_t>(
      std::ranges::find(specs, Role::kOutput, &TensorSpec::role) - specs.begin());
  const auto out_bytes = static_cast<std::size_t>(num_bytes(specs[output]));
  DeviceCall device(calls);
  std::vector<DeviceCall> sources;
  for (const WantedCall& call : calls) {
    sources.emplace_back(std::span(&call, 1));
    sources.back().load(call);
  }
  const DevicePtr outputs = device_memory(kRepeats * out_bytes);
  const StreamPtr stream = make_stream();
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < kRepeats; ++i) {
    const WantedCall& wanted = calls[i % calls.size()];
    const Call call = device.call_of(wanted, parameters);
    const Call source = sources[i % calls.size()].call_of(wanted, parameters);
    const auto tensors = wanted.problem().tensors();
    for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
      if (tensors[tensor].role == Role::kInput) {
        ASSERT_CUDA(cudaMemcpyAsync(call.tensors[tensor],
                                    source.tensors[tensor],
                                    static_cast<std::size_t>(num_bytes(tensors[tensor])),
                                    cudaMemcpyDeviceToDevice,
                                    stream.get()));
      }
    }
    run_stages(row->stages, call, stream.get());
    ASSERT_CUDA(cudaMemcpyAsync(outputs.get() + i * out_bytes,
                                call.tensors[output],
                                out_bytes,
                                cudaMemcpyDeviceToDevice,
                                stream.get()));
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
  std::vector<std::byte> found(kRepeats * out_bytes);
  ASSERT_CUDA(cudaMemcpy(found.data(), outputs.get(), found.size(), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < kRepeats; ++i) {
    const auto& wanted = calls[i % calls.size()].tensors.bytes[output];
    ASSERT_EQ(out_bytes, wanted.size());
    ASSERT_EQ(0, std::memcmp(found.data() + i * out_bytes, wanted.data(), out_bytes))
        << variant << " run " << i;
  }
}

// A mutant's bits on the workload of its row.
inline void expect_rejected(const Operator& op, const CudaMutant& mutant) {
  std::vector<Setting> axes;
  for (const auto& [name, value] : mutant.axes) {
    axes.emplace_back(name, value);
  }
  const WantedCall wanted = WantedCall::of(op, axes);
  DeviceCall device({&wanted, 1});
  const LaunchParameters parameters = make_parameters(mutant.parameters, {});
  device.load(wanted);
  run_stages(mutant.stages, device.call_of(wanted, parameters), nullptr);
  ASSERT_CUDA(cudaDeviceSynchronize());
  const std::string difference = device.difference(wanted, parameters, nullptr);
  EXPECT_NE("", difference) << mutant.name;
  EXPECT_NE("a guard band", difference) << mutant.name;
}

}  // namespace assay::kernels
