// From a call to one kernel launch: a stage selects its kernel and grid from host-known values, and
// the same selection is run, named or described.
#pragma once

#include "kernels/cuda_operator.h"
#include "kernels/qsa_decode/contract.h"

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace assay::kernels::qsa_decode {

inline constexpr std::string_view kFormatNames[] = {"fp16", "int8", "q4_0", "k8v4"};

struct Selected {
  const void* kernel = nullptr;  // takes (Params) or (Params, bool)
  std::string_view name;
  std::string_view format = {};  // empty: any
  int tile = 0;                  // cells per step or chunks per batch; 0: none
  bool prefetch = false;
  dim3 grid = {};
  dim3 block = {};
};

using Select = cudaError_t (*)(const Call& call, Selected* selected);

inline std::string text_of(const Selected& selected) {
  std::string text(selected.name);
  std::string arguments(selected.format);
  if (selected.tile != 0) {
    arguments += (arguments.empty() ? "" : ",") + std::to_string(selected.tile);
  }
  return arguments.empty() ? text : text + "<" + arguments + ">";
}

// What a grid can hold; the problem's own rules are checked where it is made.
inline bool is_launchable(const Shape& shape) {
  constexpr int kMostQueries = 65'535;
  return shape.num_queries > 0 && shape.num_queries <= kMostQueries && shape.num_chunks > 0 &&
         shape.page_size > 0;
}

template <Select kSelect>
cudaError_t run(const Call& call, cudaStream_t stream) {
  Selected selected;
  if (const cudaError_t error = kSelect(call, &selected); error != cudaSuccess) {
    return error;
  }
  if (call.trace != nullptr) {
    call.trace->kernels.push_back(text_of(selected));
  }
  Params params = params_of(call);
  void* arguments[] = {&params, &selected.prefetch};
  // A failed launch leaves its error as the last one: returned and cleared.
  static_cast<void>(
      cudaLaunchKernel(selected.kernel, selected.grid, selected.block, arguments, 0, stream));
  return cudaGetLastError();
}

template <Select kSelect>
cudaError_t describe(const Call& call, CudaKernelInfo* info) {
  Selected selected;
  if (const cudaError_t error = kSelect(call, &selected); error != cudaSuccess) {
    return error;
  }
  info->name = text_of(selected);
  info->grid = selected.grid;
  info->block = selected.block;
  info->dynamic_shared_bytes = 0;
  return describe_code(selected.kernel, info);
}

template <Select kSelect>
constexpr CudaLaunch launch_of() {
  return {.run = run<kSelect>, .describe = describe<kSelect>};
}

}  // namespace assay::kernels::qsa_decode
