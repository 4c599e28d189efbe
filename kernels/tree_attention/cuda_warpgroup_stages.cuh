// The CUDA variant `warpgroup` of tree_attention: what its row needs. CUDA sources only.
#pragma once

#include "kernels/attention/cuda_axes.h"
#include "kernels/tree_attention/cuda_stages.cuh"

#include <cstddef>

namespace assay::kernels::tree_attention {

// Places of its launch parameters.
enum WarpgroupParameter : std::size_t {
  kWarpgroupBlockPairs,
  kWarpgroupStages,
  kWarpgroupSpill,
  kWarpgroupCapacity,
  kWarpgroupSms,
  kWarpgroupStoresResult,
  kWarpgroupPdl,
};

inline constexpr AxisInfo kWarpgroupParameters[] = {
    attention::kItemPairsAxis,
    attention::kItemStagesAxis,
    attention::kItemSpillAxis,
    kCapacityAxis,
    attention::kSmsAxis,
    attention::kResultAxis,
    attention::kPdlAxis,
};

// Stages `attend` and `merge`. The first needs sm_90a.
extern const CudaStage kWarpgroupLaunches[2];

}  // namespace assay::kernels::tree_attention
