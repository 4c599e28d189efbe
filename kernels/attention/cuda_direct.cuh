// The simplest correct form: one warp for one tile and group takes its fragments straight from
// global memory and folds slice after slice in the partial itself; the merge is one thread a dim.
#pragma once

#include "kernels/attention/cuda_merge.cuh"
#include "kernels/attention/cuda_staged.cuh"

#include <cstdint>

namespace assay::kernels::attention {

ASSAY_DEVICE std::uint32_t load_pair(const std::uint16_t* elements) {
  return *reinterpret_cast<const std::uint32_t*>(elements);
}

// Dots of 8 keys from `first_key`; keys that the tile does not load are zeros.
template <int kDim, class Tile>
ASSAY_DEVICE void multiply_keys_directly(float (&dots)[4], const Tile& tile, int first_key) {
  const int row = lane_id() / 4;
  const int quad = lane_id() % 4 * 2;
  const int position = first_key + row;
  const bool is_loaded = position >= tile.loaded.begin && position < tile.loaded.end;
  const std::uint16_t* key = is_loaded ? tile.row(position, false) : nullptr;
  const std::uint16_t* queries[2] = {row < tile.num_pairs ? tile.query(row) : nullptr,
                                     row + 8 < tile.num_pairs ? tile.query(row + 8) : nullptr};
  for (int at = quad; at < kDim; at += kStepKeys) {
    std::uint32_t a[4];
    ASSAY_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint16_t* query = queries[i % 2];
      a[i] = query == nullptr ? 0 : load_pair(query + at + i / 2 * 8);
    }
    multiply_add(
        dots, a, is_loaded ? load_pair(key + at) : 0, is_loaded ? load_pair(key + at + 8) : 0);
  }
}

// Two adjacent keys' values of one dim.
template <class Tile>
ASSAY_DEVICE std::uint32_t load_values(const Tile& tile, int position, int dim) {
  std::uint32_t pair = 0;
  ASSAY_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int key = position + i;
    if (key >= tile.loaded.begin && key < tile.loaded.end) {
      pair |= static_cast<std::uint32_t>(tile.row(key, true)[dim]) << (16 * i);
    }
  }
  return pair;
}

template <int kDim, class Tile>
ASSAY_DEVICE void attend_directly(const Tile& tile, int group, float scale) {
  const int quad = lane_id() % 4 * 2;
  const LaneRows rows = LaneRows::of(tile, 0);
  SliceState<1> folded;
  folded.clear();
  for (int slice = group * kSlices; slice < (group + 1) * kSlices; ++slice) {
    const int first_key = slice * kSliceKeys;
    if (first_key >= tile.loaded.end || first_key + kSliceKeys <= tile.loaded.begin) {
      continue;
    }
    float scores[kColumns][4] = {};
    ASSAY_UNROLL
    for (int column = 0; column < kColumns; ++column) {
      multiply_keys_directly<kDim>(scores[column], tile, first_key + column * kColumnKeys);
    }
    std::uint32_t weights[kUnits][4];
    SliceState<1> state;
    mask_scores(scores, rows.ranges, first_key);
    weigh<PolynomialExp>(scores, weights, scale, state);

    RowFold folds[2];
    ASSAY_UNROLL
    for (int row = 0; row < 2; ++row) {
      folds[row] = RowFold::of(folded.m[row], folded.l[row], state.m[row], state.l[row]);
      folded.m[row] = folds[row].max(folded.m[row], state.m[row]);
      folded.l[row] = folds[row].value(folded.l[row], state.l[row]);
    }
    for (int dim = 0; dim < kDim; dim += kColumnKeys) {
      float sums[4] = {0.0F, 0.0F, 0.0F, 0.0F};
      ASSAY_UNROLL
      for (int unit = 0; unit < kUnits; ++unit) {
        const int position = first_key + unit * kStepKeys + quad;
        const int column = dim + lane_id() / 4;
        multiply_add(sums,
                     weights[unit],
                     load_values(tile, position, column),
                     load_values(tile, position + 8, column));
      }
      // A lane folds into what it wrote itself.
      ASSAY_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int row = i / 2;
        if (rows.places[row] >= 0) {
          const std::int64_t place = group * tile.num_states() + rows.places[row];
          float& o = tile.partials().o[place * kDim + dim + quad + i % 2];
          o = folds[row].takes_second ? sums[i] : folds[row].value(o, sums[i]);
        }
      }
    }
  }
  ASSAY_UNROLL
  for (int row = 0; row < 2; ++row) {
    if (quad == 0 && rows.places[row] >= 0 && folded.l[row] != 0.0F) {
      const std::int64_t place = group * tile.num_states() + rows.places[row];
      tile.partials().m[place] = folded.m[row];
      tile.partials().l[place] = folded.l[row];
    }
  }
}

// One element of the result of groups that all lie in `partials`.
template <int kDim>
ASSAY_DEVICE void merge_directly(const MergeRow& row, const MergeOutput& output, int dim) {
  float total[3] = {};
  for (int run = row.group_begin / kRunGroups; run * kRunGroups < row.group_end; ++run) {
    // m, l and o of the run.
    float sum[3] = {};
    bool is_first = true;
    for (int group = run * kRunGroups; group < (run + 1) * kRunGroups; ++group) {
      if (group < row.group_begin || group >= row.group_end) {
        continue;
      }
      const std::int64_t place = group * row.num_states + row.place;
      const float m = row.partials.m[place];
      const float l = row.partials.l[place];
      const float o = row.partials.o[place * kDim + dim];
      const FoldFactors factors = fold_factors(sum[0], m);
      sum[0] = is_first ? m : factors.m;
      sum[1] = is_first ? l : factors.fold(sum[1], l);
      sum[2] = is_first ? o : factors.fold(sum[2], o);
      is_first = false;
    }
    const bool is_first_run = run == row.group_begin / kRunGroups;
    const FoldFactors factors = fold_factors(total[0], sum[0]);
    total[0] = is_first_run ? sum[0] : factors.m;
    total[1] = is_first_run ? sum[1] : factors.fold(total[1], sum[1]);
    total[2] = is_first_run ? sum[2] : factors.fold(total[2], sum[2]);
  }
  const float result = finish(total[2], total[1]);
  output.result[row.place * kDim + dim] = result;
  output.out[row.place * kDim + dim] = to_bf16(result);
}

}  // namespace assay::kernels::attention
