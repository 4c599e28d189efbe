// The kernels and stages of `warpgroup`, built for sm_90a.
#include "kernels/tree_attention/cuda_warpgroup_plan.cuh"
#include "kernels/tree_attention/cuda_warpgroup_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {
namespace {

using attention::PolynomialExp;

constexpr int kMergeBatch = 8;

template <int kDim, int kTiles>
__global__ void __launch_bounds__(attention::WarpgroupShape<kDim, kTiles>::kThreads, 1)
    tree_attention_warpgroup_kernel(const __grid_constant__ Params params,
                                    const __grid_constant__ WarpgroupGrid grid) {
  attend_warpgroup_block<PolynomialExp, kDim, kTiles>(params, grid);
}

// This file's own: a kernel of another file is built for other architectures.
template <int kDim>
__global__ void __launch_bounds__(attention::kSlices* attention::kLanes, 2)
    tree_attention_warpgroup_tails_kernel(const __grid_constant__ Params params,
                                          const __grid_constant__ StagedGrid grid) {
  attend_staged_block<PolynomialExp, kDim, Mutation::kNone>(params, grid);
}

template <int kDim>
__global__ void __launch_bounds__(attention::kMostMergeWarps* attention::kLanes)
    tree_attention_warpgroup_merge_kernel(const __grid_constant__ Params params,
                                          const __grid_constant__ WarpgroupMergePlan plan) {
  merge_warpgroup_block<kMergeBatch, kDim>(params, plan);
}

cudaError_t launch_of_call(const Call& call, WarpgroupLaunch* launch) {
  const auto& values = call.parameters.values;
  const Shape& shape = shape_of(call);
  if (!is_served(shape) || shape.num_streams > attention::kMostItemStreams ||
      values[kWarpgroupStages] == 1) {
    return cudaErrorInvalidValue;
  }
  attention::WarpgroupChoice choice = {
      .tiles = values[kWarpgroupTiles],
      .stages = values[kWarpgroupStages],
      .spill = static_cast<attention::ItemSpill>(values[kWarpgroupSpill]),
      .capacity = values[kWarpgroupCapacity],
      .stores_result = values[kWarpgroupStoresResult] == 0};
  const cudaError_t error = attention::sms_of(values[kWarpgroupSms], &choice.sms);
  *launch = plan_warpgroup(shape, choice);
  return error;
}

struct Attend : TreeStage {
  using Argument = WarpgroupGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    WarpgroupLaunch launch;
    if (const cudaError_t error = launch_of_call(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = dim == 256
                           ? reinterpret_cast<const void*>(tree_attention_warpgroup_kernel<256, 1>)
                       : launch.tiles == 2
                           ? reinterpret_cast<const void*>(tree_attention_warpgroup_kernel<128, 2>)
                           : reinterpret_cast<const void*>(tree_attention_warpgroup_kernel<128, 1>);
    selected->name = attention::name_of_kernel("tree_attention_warpgroup", dim);
    selected->size = attention::size_of(launch.attend);
    *grid = launch.grid;
    return cudaSuccess;
  }
};

struct Tails : TreeStage {
  using Argument = StagedGrid;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* grid) {
    WarpgroupLaunch launch;
    if (const cudaError_t error = launch_of_call(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel =
        dim == 128 ? reinterpret_cast<const void*>(tree_attention_warpgroup_tails_kernel<128>)
                   : reinterpret_cast<const void*>(tree_attention_warpgroup_tails_kernel<256>);
    selected->name = attention::name_of_kernel("tree_attention_warpgroup_tails", dim);
    selected->size = attention::size_of(launch.tails.attend);
    *grid = launch.tails.grid;
    return cudaSuccess;
  }
};

struct Merge : TreeStage {
  using Argument = WarpgroupMergePlan;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* plan) {
    WarpgroupLaunch launch;
    if (const cudaError_t error = launch_of_call(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel =
        dim == 128 ? reinterpret_cast<const void*>(tree_attention_warpgroup_merge_kernel<128>)
                   : reinterpret_cast<const void*>(tree_attention_warpgroup_merge_kernel<256>);
    selected->name = attention::name_of_kernel("tree_attention_warpgroup_merge", dim);
    selected->size = attention::size_of(launch.tails.merge);
    *plan = launch.merge_plan;
    return cudaSuccess;
  }
};

}  // namespace

constinit const CudaStage kWarpgroupLaunches[3] = {{"attend", attention::launch_of<Attend>()},
                                                   {"tails", attention::launch_of<Tails>()},
                                                   {"merge", attention::launch_of<Merge>()}};

}  // namespace assay::kernels::tree_attention
