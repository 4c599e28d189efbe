// The stages of tree_attention's CUDA variants: from launch parameters to kernels. CUDA sources
// only.
#pragma once

#include "kernels/attention/cuda_axes.h"
#include "kernels/attention/cuda_launch.cuh"
#include "kernels/tree_attention/cuda_plan.cuh"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::kernels::tree_attention {

// Kernels by head dim, and merges by their batch; null where there is none. Each in a source of its
// own, as they take long to compile.
const void* direct_kernel(std::int32_t dim);
const void* direct_merge_kernel(std::int32_t dim);
const void* staged_kernel(std::int32_t dim);
const void* hw_exp_kernel(std::int32_t dim);
const void* wide_kernel(std::int32_t dim);
const void* merge_kernel(std::int32_t dim, std::int32_t batch);

using attention::KernelOfBatch;
using attention::KernelOfDim;

// Places of the launch parameters of `staged`.
enum StagedParameter : std::size_t {
  kForm,
  kSlots,
  kStages,
  kTileKeys,
  kShared,
  kSpill,
  kCapacity,
  kSms,
  kMergeBatch,
  kStoresResult,
  kBlocksPerSm,
};

// Places of the launch parameters of `wide`.
enum WideParameter : std::size_t {
  kWideTiles,
  kWideSlots,
  kWideStages,
  kWideTileKeys,
  kWideSpill,
  kWideCapacity,
  kWideSms,
  kWideMergeBatch,
  kWideStoresResult,
  kWideBlocksPerSm,
};

inline bool is_served(const Shape& shape) {
  return (shape.dim == 128 || shape.dim == 256) && shape.num_kv_heads > 0 && shape.num_rows >= 0 &&
         shape.num_heads % shape.num_kv_heads == 0 && shape.group() <= attention::kMostHeadsPerKey;
}

inline cudaError_t staged_launch_of(const Call& call, StagedLaunch* launch) {
  const auto& values = call.parameters.values;
  if (!is_served(shape_of(call)) || !attention::is_stage_count(values[kStages]) ||
      !attention::is_choice(values[kTileKeys], attention::kTileChoices)) {
    return cudaErrorInvalidValue;
  }
  StagedChoice choice = {.form = static_cast<Form>(values[kForm]),
                         .slots = values[kSlots],
                         .stages = values[kStages],
                         .tile = attention::kTileChoices[values[kTileKeys]],
                         .shares = values[kShared] == 0,
                         .spills_runs = values[kSpill] != 0,
                         .capacity = values[kCapacity],
                         .stores_result = values[kStoresResult] == 0};
  const cudaError_t error = attention::sms_of(values[kSms], &choice.sms);
  *launch = plan_staged(shape_of(call), choice);
  return error;
}

// ---- Stages ----

struct TreeStage {
  static Params params(const Call& call) { return params_of(call); }
};

struct DirectAttend : TreeStage {
  struct Argument {};

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument*) {
    const Shape& shape = shape_of(call);
    if (!is_served(shape)) {
      return cudaErrorInvalidValue;
    }
    selected->kernel = direct_kernel(shape.dim);
    selected->name = attention::name_of_kernel("tree_attention_direct", shape.dim);
    selected->size = {
        .num_blocks = std::int64_t{shape.num_rows} * shape.num_kv_heads * shape.num_groups,
        .num_threads = attention::kLanes};
    return cudaSuccess;
  }
};

struct DirectMerge : TreeStage {
  struct Argument {};

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument*) {
    const Shape& shape = shape_of(call);
    if (!is_served(shape)) {
      return cudaErrorInvalidValue;
    }
    selected->kernel = direct_merge_kernel(shape.dim);
    selected->name = attention::name_of_kernel("tree_attention_direct_merge", shape.dim);
    selected->size = {.num_blocks = std::int64_t{shape.num_rows} * shape.num_heads,
                      .num_threads = shape.dim};
    return cudaSuccess;
  }
};

template <KernelOfDim kKernel>
struct StagedAttend : TreeStage {
  using Argument = StagedGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    StagedLaunch launch;
    if (const cudaError_t error = staged_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    const bool is_four_warp = launch.grid.block.is_four_warp;
    selected->kernel = kKernel(dim);
    selected->name = attention::name_of_kernel(
        is_four_warp ? "tree_attention_staged_four_warp" : "tree_attention_staged_one_warp", dim);
    selected->size = attention::size_of(launch.attend, call.parameters.values[kBlocksPerSm]);
    *grid = launch.grid;
    return cudaSuccess;
  }
};

inline cudaError_t select_merge(const Call& call,
                                KernelOfBatch kernel,
                                std::int32_t batch,
                                const StagedLaunch& launch,
                                attention::Selected* selected,
                                MergePlan* plan) {
  if (!attention::is_choice(batch, attention::kBatchChoices)) {
    return cudaErrorInvalidValue;
  }
  const std::int32_t dim = shape_of(call).dim;
  selected->kernel = kernel(dim, attention::kBatchChoices[batch]);
  selected->name = attention::name_of_kernel("tree_attention_merge", dim);
  selected->size = attention::size_of(launch.merge);
  *plan = launch.merge_plan;
  return cudaSuccess;
}

template <KernelOfBatch kKernel>
struct StagedMerge : TreeStage {
  using Argument = MergePlan;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* plan) {
    StagedLaunch launch;
    if (const cudaError_t error = staged_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    return select_merge(call, kKernel, call.parameters.values[kMergeBatch], launch, selected, plan);
  }
};

inline cudaError_t wide_launch_of(const Call& call, WideLaunch* launch) {
  const auto& values = call.parameters.values;
  if (!is_served(shape_of(call)) || !attention::is_stage_count(values[kWideStages]) ||
      !attention::is_choice(values[kWideTileKeys], attention::kTileChoices)) {
    return cudaErrorInvalidValue;
  }
  WideChoice choice = {.slots = values[kWideSlots],
                       .stages = values[kWideStages],
                       .tile = attention::kTileChoices[values[kWideTileKeys]],
                       .tiles = values[kWideTiles],
                       .spills_runs = values[kWideSpill] != 0,
                       .capacity = values[kWideCapacity],
                       .stores_result = values[kWideStoresResult] == 0};
  const cudaError_t error = attention::sms_of(values[kWideSms], &choice.sms);
  *launch = plan_wide(shape_of(call), choice);
  return error;
}

struct WideAttend : TreeStage {
  using Argument = WideGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    WideLaunch launch;
    if (const cudaError_t error = wide_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = wide_kernel(dim);
    selected->name = attention::name_of_kernel("tree_attention_wide", dim);
    selected->size = attention::size_of(launch.attend, call.parameters.values[kWideBlocksPerSm]);
    *grid = launch.grid;
    return cudaSuccess;
  }
};

struct WideTails : TreeStage {
  using Argument = StagedGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    WideLaunch launch;
    if (const cudaError_t error = wide_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = staged_kernel(dim);
    selected->name = attention::name_of_kernel("tree_attention_staged_tails", dim);
    selected->size = attention::size_of(launch.tails.attend);
    *grid = launch.tails.grid;
    return cudaSuccess;
  }
};

struct WideMerge : TreeStage {
  using Argument = MergePlan;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* plan) {
    WideLaunch launch;
    if (const cudaError_t error = wide_launch_of(call, &launch); error != cudaSuccess) {
      return error;
    }
    return select_merge(
        call, merge_kernel, call.parameters.values[kWideMergeBatch], launch.tails, selected, plan);
  }
};

// ---- Axes ----

inline constexpr std::string_view kFormNames[] = {"auto", "four_warp", "one_warp"};
inline constexpr AxisInfo kSlotsAxis = {.name = "slots",
                                        .help = "blocks that share a tile's groups; 0: by rule",
                                        .default_value = "0",
                                        .min = 0,
                                        .max = kMostSlots};
inline constexpr AxisInfo kSharedAxis = {.name = "shared",
                                         .help = "whether rows share blocks for committed groups",
                                         .default_value = "on",
                                         .choices = attention::kOnOffNames};
inline constexpr AxisInfo kCapacityAxis = {.name = "capacity",
                                           .help = "keys that the grid is sized for; 0: the call's",
                                           .default_value = "0",
                                           .min = 0,
                                           .max = 16'777'216};

constexpr AxisInfo form_axis(std::string_view default_value) {
  return {.name = "form",
          .help = "blocks of four warps, a slice each, or of one; auto: by the device's size",
          .default_value = default_value,
          .choices = kFormNames};
}

}  // namespace assay::kernels::tree_attention
