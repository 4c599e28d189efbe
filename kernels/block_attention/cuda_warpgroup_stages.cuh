// The CUDA variant `warpgroup` of block_attention: what its row needs. CUDA sources only.
#pragma once

#include "kernels/attention/cuda_axes.h"
#include "kernels/block_attention/cuda_stages.cuh"

#include <cstddef>

namespace assay::kernels::block_attention {

// Places of its launch parameters.
enum WarpgroupParameter : std::size_t {
  kWarpgroupBlockPairs,
  kWarpgroupStages,
  kWarpgroupSpill,
  kWarpgroupSms,
  kWarpgroupStoresResult,
  kWarpgroupPdl,
};

inline constexpr AxisInfo kWarpgroupParameters[] = {
    attention::kItemPairsAxis,
    attention::kItemStagesAxis,
    attention::kItemSpillAxis,
    attention::kSmsAxis,
    attention::kResultAxis,
    attention::kPdlAxis,
};

// Stages `attend` and `merge`. The first needs sm_90a.
extern const CudaStage kWarpgroupLaunches[2];

}  // namespace assay::kernels::block_attention
