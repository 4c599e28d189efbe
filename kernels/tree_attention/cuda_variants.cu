// The CUDA variants of tree_attention.
#include "kernels/tree_attention/cuda_stages.cuh"
#include "kernels/tree_attention/cuda_tables.h"
#include "kernels/tree_attention/cuda_warpgroup_stages.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {
namespace {

using attention::launch_of;

constexpr int kLeastComputeCapability = 80;

constexpr AxisInfo kStagedParameters[] = {
    form_axis("auto"),
    kSlotsAxis,
    attention::kStagesAxis,
    attention::tile_axis("16"),
    kSharedAxis,
    attention::kSpillAxis,
    kCapacityAxis,
    attention::kSmsAxis,
    attention::kMergeBatchAxis,
    attention::kResultAxis,
    attention::kBlocksPerSmAxis,
};

constexpr AxisInfo kWideParameters[] = {
    {.name = "tiles",
     .help = "tiles of 16 (row, head) pairs in a block; 0: all of a stream's, as far as they fit",
     .default_value = "0",
     .min = 0,
     .max = attention::kMostWideWarps},
    {.name = "slots",
     .help = "blocks that share a tile's groups; 0: by the device's size",
     .default_value = "0",
     .min = 0,
     .max = 1'024},
    attention::kStagesAxis,
    attention::tile_axis("32"),
    attention::kSpillAxis,
    kCapacityAxis,
    attention::kSmsAxis,
    attention::kMergeBatchAxis,
    attention::kResultAxis,
    attention::kBlocksPerSmAxis,
};

bool is_partial(std::size_t tensor) {
  return tensor == kPartialM || tensor == kPartialL || tensor == kPartialO;
}

bool staged_leaves(const LaunchParameters& parameters, std::size_t tensor) {
  return (tensor == kResult && parameters.values[kStoresResult] != 0) ||
         (is_partial(tensor) && parameters.values[kSpill] != 0);
}

bool wide_leaves(const LaunchParameters& parameters, std::size_t tensor) {
  return (tensor == kResult && parameters.values[kWideStoresResult] != 0) ||
         (is_partial(tensor) && parameters.values[kWideSpill] != 0);
}

bool warpgroup_leaves(const LaunchParameters& parameters, std::size_t tensor) {
  return (tensor == kResult && parameters.values[kWarpgroupStoresResult] != 0) ||
         (is_partial(tensor) && !attention::leaves_groups(parameters.values[kWarpgroupSpill]));
}

constexpr CudaStage kDirectLaunches[] = {{"attend", launch_of<DirectAttend>()},
                                         {"merge", launch_of<DirectMerge>()}};
constexpr CudaStage kStagedLaunches[] = {{"attend", launch_of<StagedAttend<staged_kernel>>()},
                                         {"merge", launch_of<StagedMerge<merge_kernel>>()}};
constexpr CudaStage kWideLaunches[] = {{"attend", launch_of<WideAttend>()},
                                       {"tails", launch_of<WideTails>()},
                                       {"merge", launch_of<WideMerge>()}};
constexpr CudaStage kHwExpLaunches[] = {{"attend", launch_of<StagedAttend<hw_exp_kernel>>()},
                                        {"merge", launch_of<StagedMerge<merge_kernel>>()}};

constexpr CudaVariant kVariants[] = {
    {.name = "direct",
     .idea = "one warp for each row, key head and group, fragments straight from memory",
     .stages = kDirectLaunches,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "staged",
     .idea = "slices in parallel, tiles copied ahead into rings, rows share committed groups in "
             "tiles of 16 pairs, the merge loads first",
     .parameters = kStagedParameters,
     .stages = kStagedLaunches,
     .min_compute_capability = kLeastComputeCapability,
     .leaves = staged_leaves},
    {.name = "wide",
     .idea = "all pairs of a stream and key head share each tile of committed keys",
     .parameters = kWideParameters,
     .stages = kWideLaunches,
     .min_compute_capability = kLeastComputeCapability,
     .leaves = wide_leaves},
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

}  // namespace assay::kernels::tree_attention
