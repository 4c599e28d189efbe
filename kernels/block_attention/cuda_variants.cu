// The CUDA variants of block_attention.
#include "kernels/block_attention/cuda_stages.cuh"
#include "kernels/block_attention/cuda_tables.h"
#include "kernels/block_attention/cuda_warpgroup_stages.cuh"

namespace assay::kernels::block_attention {
namespace {

using attention::launch_of;

constexpr int kLeastComputeCapability = 80;

bool is_partial(std::size_t tensor) {
  return tensor == kPartialM || tensor == kPartialL || tensor == kPartialO;
}

bool staged_leaves(const LaunchParameters& parameters, std::size_t tensor) {
  return (tensor == kResult && parameters.values[kStoresResult] != 0) ||
         (is_partial(tensor) && parameters.values[kSpill] != 0);
}

bool warpgroup_leaves(const LaunchParameters& parameters, std::size_t tensor) {
  return (tensor == kResult && parameters.values[kWarpgroupStoresResult] != 0) ||
         (is_partial(tensor) && !attention::leaves_groups(parameters.values[kWarpgroupSpill]));
}

constexpr CudaStage kDirectLaunches[] = {{"attend", launch_of<DirectAttend>()},
                                         {"merge", launch_of<DirectMerge>()}};
constexpr CudaStage kStagedLaunches[] = {{"attend", launch_of<StagedAttend<staged_kernel>>()},
                                         {"merge", launch_of<StagedMerge<merge_kernel>>()}};
constexpr CudaStage kHwExpLaunches[] = {{"attend", launch_of<StagedAttend<hw_exp_kernel>>()},
                                        {"merge", launch_of<StagedMerge<merge_kernel>>()}};

constexpr CudaVariant kVariants[] = {
    {.name = "direct",
     .idea = "one warp for each row, key head and group, fragments straight from memory",
     .stages = kDirectLaunches,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "staged",
     .idea = "slices in parallel, tiles copied ahead into rings, rows and heads share keys in "
             "tiles of 16 pairs, the merge loads first",
     .parameters = kStagedParameters,
     .stages = kStagedLaunches,
     .min_compute_capability = kLeastComputeCapability,
     .leaves = staged_leaves},
    {.name = "warpgroup",
     .idea =
         "64 pairs by 128 columns a warpgroup on wgmma, items of a run, a group or a slice on a "
         "persistent grid",
     .parameters = kWarpgroupParameters,
     .stages = kWarpgroupLaunches,
     .min_compute_capability = 90,
     .available = attention::has_warpgroups,
     .leaves = warpgroup_leaves},
    {.name = "hw_exp",
     .idea = "staged with the hardware exponential for the weights",
     .family = "hw_exp",
     .parameters = kStagedParameters,
     .stages = kHwExpLaunches,
     .min_compute_capability = kLeastComputeCapability,
     .leaves = staged_leaves},
};

}  // namespace

constinit const CudaTables kCudaTables = {.variants = kVariants, .mutants = kCudaMutants};

}  // namespace assay::kernels::block_attention
