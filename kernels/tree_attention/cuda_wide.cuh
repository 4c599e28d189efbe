// The body of the wide kernel: committed groups of all pairs of a (stream, key head), as far as a
// block holds them. A block that does not start at such a run of tiles has nothing to do.
#pragma once

#include "kernels/attention/cuda_wide.cuh"
#include "kernels/tree_attention/cuda_tiles.cuh"

#include <cstdint>

namespace assay::kernels::tree_attention {

struct WideGrid {
  attention::StagedPlan block;
  std::int32_t num_tiles = 1;  // of 16 pairs, in a block
  std::int32_t num_slots = 1;
};

template <class Exp, int kDim>
ASSAY_DEVICE void attend_wide_block(const Params& params, const WideGrid& grid) {
  std::int64_t number = attention::block_id();
  const auto key_head = static_cast<int>(number % params.num_kv_heads);
  number /= params.num_kv_heads;
  const auto place = static_cast<int>(number % params.num_tiles);
  const auto slot = static_cast<int>(number / params.num_tiles);
  const std::int32_t first_pair = params.tiles[2 * static_cast<std::int64_t>(place) + 1];
  if (first_pair / attention::kTilePairs % grid.num_tiles != 0) {
    return;
  }
  const auto tile =
      Tile<kDim>::shared(params, place, grid.num_tiles * attention::kTilePairs, key_head);
  const auto walk = attention::GroupWalk::of(
      0, tile.num_groups, grid.block.spills_runs ? attention::kRunGroups : 1, slot, grid.num_slots);
  attention::attend_wide<Exp, attention::Defect::kNone, kDim>(
      tile, grid.block, grid.num_tiles, walk, params.scale);
}

}  // namespace assay::kernels::tree_attention
