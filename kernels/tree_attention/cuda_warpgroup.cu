// The kernels and stages of `warpgroup`, built for sm_90a.
#include "kernels/attention/cuda_panel_maps.cuh"
#include "kernels/tree_attention/cuda_warpgroup_plan.cuh"
#include "kernels/tree_attention/cuda_warpgroup_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {
namespace {

using attention::PolynomialExp;

constexpr int kMergeBatch = 4;

struct WarpgroupCall {
  attention::PanelMaps maps;
  WarpgroupGrid grid;
};

template <int kDim, int kPairs>
using BlockShape =
    typename attention::ItemAttention<PolynomialExp, kDim, kPairs, CommittedKeys<kDim>>::Shape;

template <int kDim, int kPairs>
__global__ void __launch_bounds__(BlockShape<kDim, kPairs>::kThreads,
                                  BlockShape<kDim, kPairs>::kBlocksPerSm)
    tree_attention_warpgroup_kernel(const __grid_constant__ Params params,
                                    const __grid_constant__ WarpgroupCall call) {
  attend_warpgroup_block<PolynomialExp, kDim, kPairs>(params, call.maps, call.grid);
}

const void* attend_kernel(std::int32_t dim, std::int32_t pairs) {
  return attention::of_shape(dim, pairs, [](auto shape) {
    using Of = decltype(shape);
    return reinterpret_cast<const void*>(tree_attention_warpgroup_kernel<Of::kDim, Of::kPairs>);
  });
}

template <int kDim>
__global__ void __launch_bounds__(attention::kMostMergeWarps* attention::kLanes, 2)
    tree_attention_warpgroup_merge_kernel(const __grid_constant__ Params params,
                                          const __grid_constant__ WarpgroupMergePlan plan) {
  merge_warpgroup_block<kMergeBatch, kDim>(params, plan);
}

cudaError_t launch_of_call(const Call& call, WarpgroupLaunch* launch) {
  const auto& values = call.parameters.values;
  const Shape& shape = shape_of(call);
  if (!is_served(shape) || values[kWarpgroupStages] == 1 ||
      !attention::is_choice(values[kWarpgroupBlockPairs], attention::kItemPairsChoices)) {
    return cudaErrorInvalidValue;
  }
  attention::WarpgroupChoice choice = {
      .pairs = attention::kItemPairsChoices[values[kWarpgroupBlockPairs]],
      .stages = values[kWarpgroupStages],
      .spill = static_cast<attention::ItemSpill>(values[kWarpgroupSpill]),
      .capacity = values[kWarpgroupCapacity],
      .stores_result = values[kWarpgroupStoresResult] == 0};
  attention::take_tuned(tuned_of(call), &choice);
  const cudaError_t error = attention::sms_of(values[kWarpgroupSms], &choice.sms);
  *launch = plan_warpgroup(shape, choice);
  return error;
}

cudaError_t maps_of_call(const Call& call, attention::PanelMaps* maps) {
  if (call.tensors == nullptr) {
    return cudaSuccess;  // only described
  }
  const Shape& shape = shape_of(call);
  const std::int64_t elements = num_elements(call.problem->tensors()[kKCache]);
  return attention::make_panel_maps(call.tensors[kKCache],
                                    call.tensors[kVCache],
                                    elements,
                                    std::int64_t{shape.num_kv_heads} * shape.dim,
                                    false,
                                    maps);
}

struct Attend : TreeStage {
  using Argument = WarpgroupCall;

  static cudaError_t select(const Call& call, attention::Selected* selected, Argument* argument) {
    WarpgroupLaunch launch;
    if (const cudaError_t error = launch_of_call(call, &launch); error != cudaSuccess) {
      return error;
    }
    const std::int32_t dim = shape_of(call).dim;
    selected->kernel = attend_kernel(dim, launch.pairs);
    selected->name = attention::name_of_kernel("tree_attention_warpgroup", dim);
    selected->size = attention::size_of(launch.attend);
    argument->grid = launch.grid;
    return maps_of_call(call, &argument->maps);
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
    selected->size = attention::size_of(launch.merge);
    selected->begins_early = call.parameters.values[kWarpgroupPdl] == 0;
    *plan = launch.merge_plan;
    return cudaSuccess;
  }
};

}  // namespace

constinit const CudaStage kWarpgroupLaunches[2] = {{"attend", attention::launch_of<Attend>()},
                                                   {"merge", attention::launch_of<Merge>()}};

}  // namespace assay::kernels::tree_attention
