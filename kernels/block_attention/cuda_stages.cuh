// The stages of block_attention's CUDA variants: from launch parameters to kernels. CUDA sources
// only.
#pragma once

#include "kernels/attention/cuda_axes.h"
#include "kernels/attention/cuda_launch.cuh"
#include "kernels/block_attention/cuda_plan.cuh"

#include <cstdint>
#include <string_view>

namespace assay::kernels::block_attention {

// Kernels by head dim, and merges by their batch; null where there is none.
const void* direct_kernel(std::int32_t dim);
const void* direct_merge_kernel(std::int32_t dim);
const void* staged_kernel(std::int32_t dim);
const void* hw_exp_kernel(std::int32_t dim);
const void* merge_kernel(std::int32_t dim, std::int32_t batch);

using attention::KernelOfBatch;
using attention::KernelOfDim;

// Places of the launch parameters of `staged`.
enum StagedParameter : std::size_t {
  kStages,
  kTileKeys,
  kSpill,
  kMergeBatch,
  kStoresResult,
  kSkip,
  kSms,
};

inline constexpr std::size_t kNumStagedParameters = 7;

inline bool is_served(const Shape& shape) {
  return (shape.dim == 128 || shape.dim == 256) && shape.num_kv_heads > 0 &&
         shape.num_streams >= 0 && shape.width >= 1 && shape.width <= kMostWidth &&
         shape.num_heads % shape.num_kv_heads == 0 && shape.group() <= attention::kMostHeadsPerKey;
}

inline cudaError_t staged_launch_of(const Call& call, StagedLaunch* launch) {
  const auto& values = call.parameters.values;
  if (!is_served(shape_of(call)) || !attention::is_stage_count(values[kStages]) ||
      !attention::is_choice(values[kTileKeys], attention::kTileChoices)) {
    return cudaErrorInvalidValue;
  }
  StagedChoice choice = {.stages = values[kStages],
                         .tile = attention::kTileChoices[values[kTileKeys]],
                         .spills_runs = values[kSpill] != 0,
                         .skips = values[kSkip] == 0,
                         .stores_result = values[kStoresResult] == 0};
  const cudaError_t error = attention::sms_of(values[kSms], &choice.sms);
  *launch = plan_staged(shape_of(call), choice);
  return error;
}

struct BlockStage {
  static Params params(const Call& call) { return params_of(call); }
};

struct DirectAttend : BlockStage {
  struct Argument {};

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument*) {
    const Shape& shape = shape_of(call);
    if (!is_served(shape)) {
      return cudaErrorInvalidValue;
    }
    selected->kernel = direct_kernel(shape.dim);
    selected->name = attention::name_of_kernel("block_attention_direct", shape.dim);
    selected->size = {
        .num_blocks = std::int64_t{shape.num_rows()} * shape.num_kv_heads * shape.num_groups,
        .num_threads = attention::kLanes};
    return cudaSuccess;
  }
};

struct DirectMerge : BlockStage {
  struct Argument {};

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument*) {
    const Shape& shape = shape_of(call);
    if (!is_served(shape)) {
      return cudaErrorInvalidValue;
    }
    selected->kernel = direct_merge_kernel(shape.dim);
    selected->name = attention::name_of_kernel("block_attention_direct_merge", shape.dim);
    selected->size = {.num_blocks = std::int64_t{shape.num_rows()} * shape.num_heads,
                      .num_threads = shape.dim};
    return cudaSuccess;
  }
};

template <KernelOfDim kKernel>
struct StagedAttend : BlockStage {
  using Argument = StagedGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    StagedLaunch launch;
    if (const cudaError_t error = staged_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = kKernel(dim);
    selected->name = attention::name_of_kernel("block_attention_staged", dim);
    selected->size = attention::size_of(launch.attend);
    *grid = launch.grid;
    return cudaSuccess;
  }
};

template <KernelOfBatch kKernel>
struct StagedMerge : BlockStage {
  using Argument = MergePlan;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* plan) {
    StagedLaunch launch;
    if (const cudaError_t error = staged_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t batch = call.parameters.values[kMergeBatch];
    if (!attention::is_choice(batch, attention::kBatchChoices)) {
      return cudaErrorInvalidValue;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = kKernel(dim, attention::kBatchChoices[batch]);
    selected->name = attention::name_of_kernel("block_attention_merge", dim);
    selected->size = attention::size_of(launch.merge);
    *plan = launch.merge_plan;
    return cudaSuccess;
  }
};

inline constexpr AxisInfo kStagedParameters[kNumStagedParameters] = {
    attention::kStagesAxis,
    attention::tile_axis("16"),
    attention::kSpillAxis,
    attention::kMergeBatchAxis,
    attention::kResultAxis,
    {.name = "skip",
     .help = "whether tiles outside every row's window are left out",
     .default_value = "on",
     .choices = attention::kOnOffNames},
    attention::kSmsAxis,
};

}  // namespace assay::kernels::block_attention
