// From a call to at most one kernel launch of a stage: a stage selects its kernel, grid and second
// argument from host-known values, and the same selection is run, named or described.
#pragma once

#include "kernels/attention/cuda_grid.cuh"
#include "kernels/attention/cuda_ring.cuh"
#include "kernels/cuda_operator.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::kernels::attention {

inline constexpr std::int64_t kMostBlocks = 2'147'483'647;

using KernelOfDim = const void* (*)(std::int32_t dim);
using KernelOfBatch = const void* (*)(std::int32_t dim, std::int32_t batch);

struct LaunchSize {
  std::int64_t num_blocks = 0;  // 0: nothing to do
  std::int32_t num_threads = 0;
  std::int32_t shared_bytes = 0;
  std::int32_t blocks_per_sm = 0;  // at most, by shared memory; 0: as many as fit
};

// A kernel of (Params) or (Params, Argument).
struct Selected {
  const void* kernel = nullptr;
  std::string name;
  LaunchSize size;
  bool begins_early = false;  // it may begin before the call's stage before ends, and waits for it
};

inline cudaError_t attribute_of_device(cudaDeviceAttr attribute, std::int32_t* value) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) {
    return error;
  }
  return cudaDeviceGetAttribute(value, attribute, device);
}

// The warpgroup form is machine code of 9.0 alone.
inline absl::Status has_warpgroups(const LaunchParameters& /*parameters*/) {
  std::int32_t major = 0;
  std::int32_t minor = 0;
  if (attribute_of_device(cudaDevAttrComputeCapabilityMajor, &major) != cudaSuccess ||
      attribute_of_device(cudaDevAttrComputeCapabilityMinor, &minor) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return absl::FailedPreconditionError("the device does not tell its compute capability");
  }
  return major == 9 && minor == 0 ? absl::OkStatus()
                                  : absl::FailedPreconditionError("needs compute capability 9.0");
}

// Refuses what the device's blocks cannot hold, and asks for more shared memory than needed where
// fewer blocks are to share an SM.
inline cudaError_t fit_shared_memory(LaunchSize* size) {
  constexpr std::int32_t kReserved = 1024;  // the system's own in each block
  constexpr std::int32_t kStep = 128;
  std::int32_t most = 0;
  std::int32_t of_sm = 0;
  if (const cudaError_t error = attribute_of_device(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most);
      error != cudaSuccess) {
    return error;
  }
  if (size->shared_bytes > most) {
    return cudaErrorInvalidValue;
  }
  if (size->blocks_per_sm == 0) {
    return cudaSuccess;
  }
  if (const cudaError_t error =
          attribute_of_device(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &of_sm);
      error != cudaSuccess) {
    return error;
  }
  const std::int32_t least =
      (of_sm / (size->blocks_per_sm + 1) - kReserved) / kStep * kStep + kStep;
  size->shared_bytes = std::min(std::max(size->shared_bytes, least), most);
  return cudaSuccess;
}

inline bool is_stage_count(std::int32_t stages) {
  return stages == 0 || (stages >= kLeastStages && stages <= kMostStages);
}

inline cudaError_t sms_of(std::int32_t parameter, std::int32_t* sms) {
  *sms = parameter;
  return parameter > 0 ? cudaSuccess : attribute_of_device(cudaDevAttrMultiProcessorCount, sms);
}

inline LaunchSize size_of(const Grid& grid, std::int32_t blocks_per_sm = 0) {
  return {.num_blocks = grid.num_blocks,
          .num_threads = grid.num_threads,
          .shared_bytes = grid.shared_bytes,
          .blocks_per_sm = blocks_per_sm};
}

inline std::string name_of_kernel(std::string_view kernel, std::int32_t dim) {
  return std::string(kernel) + "<" + std::to_string(dim) + ">";
}

// Errors of the runtime are returned and cleared.
inline cudaError_t cleared(cudaError_t error) {
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  return error;
}

inline cudaError_t prepare(Selected* selected) {
  if (selected->kernel == nullptr || selected->size.num_blocks > kMostBlocks) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = fit_shared_memory(&selected->size); error != cudaSuccess) {
    return cleared(error);
  }
  return cleared(cudaFuncSetAttribute(
      selected->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, selected->size.shared_bytes));
}

// An operator's stage: Stage::select(call, &selected, &argument) and Stage::params(call).
template <class Stage>
cudaError_t run_stage(const Call& call, cudaStream_t stream) {
  Selected selected;
  typename Stage::Argument argument = {};
  if (const cudaError_t error = Stage::select(call, &selected, &argument); error != cudaSuccess) {
    return cleared(error);
  }
  if (selected.size.num_blocks == 0) {
    return cudaSuccess;
  }
  if (const cudaError_t error = prepare(&selected); error != cudaSuccess) {
    return error;
  }
  if (call.trace != nullptr) {
    call.trace->kernels.push_back(selected.name);
  }
  auto params = Stage::params(call);
  void* arguments[] = {&params, &argument};
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(selected.size.num_blocks));
  config.blockDim = dim3(static_cast<unsigned>(selected.size.num_threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(selected.size.shared_bytes);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = selected.begins_early ? 1 : 0;
  // A failed launch leaves its error as the last one: returned and cleared.
  static_cast<void>(cudaLaunchKernelExC(&config, selected.kernel, arguments));
  return cudaGetLastError();
}

template <class Stage>
cudaError_t describe_stage(const Call& call, CudaKernelInfo* info) {
  Selected selected;
  typename Stage::Argument argument = {};
  if (const cudaError_t error = Stage::select(call, &selected, &argument); error != cudaSuccess) {
    return cleared(error);
  }
  if (const cudaError_t error = prepare(&selected); error != cudaSuccess) {
    return error;
  }
  info->name = selected.name;
  info->grid = dim3(static_cast<unsigned>(selected.size.num_blocks));
  info->block = dim3(static_cast<unsigned>(selected.size.num_threads));
  info->dynamic_shared_bytes = selected.size.shared_bytes;
  return cleared(describe_code(selected.kernel, info));
}

template <class Stage>
constexpr CudaLaunch launch_of() {
  return {.run = run_stage<Stage>, .describe = describe_stage<Stage>};
}

}  // namespace assay::kernels::attention
