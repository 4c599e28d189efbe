// The fold of a chunk's values on cpu, over a vector type V of eight floats: one fma for each live
// cell in ascending order.
#pragma once

#include "kernels/qsa_decode/cpu_cells.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

template <class V>
struct ChunkValues {
  using F8 = typename V::F8;

  static constexpr int kNumDimBlocks = kHeadDim / 8;

  // Scales of the live cells' values by group of dims, found once for all heads.
  static constexpr int kMostGroups = kHeadDim / kQ4Block;

  template <KvFormat kFormat>
  static constexpr int num_groups() {
    return kFormat == KvFormat::kInt8 ? kHeadDim / kScaleGroup : kMostGroups;
  }

  template <KvFormat kFormat>
  static float value_scale(const Params& params, std::int64_t row, int group) {
    if constexpr (kFormat == KvFormat::kFp16) {
      return 1.0F;
    } else if constexpr (kFormat == KvFormat::kInt8) {
      return V::half(static_cast<const std::uint16_t*>(params.v_scales)[row * 4 + group]);
    } else {
      const auto* block =
          static_cast<const std::uint8_t*>(params.v) + row * kQ4RowBytes + std::int64_t{group} * 18;
      return V::half(static_cast<std::uint16_t>(block[0] | (block[1] << 8)));
    }
  }

  template <KvFormat kFormat, Mutation kMutation>
  static F8 load_value(const Params& params, std::int64_t row, int block, const float* scales) {
    constexpr int kGroups = num_groups<kFormat>();
    int group = block * kGroups / kNumDimBlocks;
    if constexpr (kMutation == Mutation::kScaleGroupOffByOne) {
      group = (group + 1) % kGroups;
    }
    return V::template load_value<kFormat, kMutation == Mutation::kNibblesSwapped>(
        params, row, block, scales[group]);
  }

  // One cell at a time over all dims; the accumulators lie in memory.
  template <KvFormat kFormat, Mutation kMutation>
  static void fold_one_cell(const Params& params,
                            const ChunkCells& cells,
                            const float* weights,
                            float* acc) {
    for (int i = 0; i < kGroup * kNumDimBlocks; ++i) {
      V::store(acc + i * 8, V::set1(0.0F));
    }
    for (int cell = 0; cell < kChunk; ++cell) {
      if (!cells.is_live(cell)) {
        continue;
      }
      float scales[kMostGroups];
      for (int group = 0; group < num_groups<kFormat>(); ++group) {
        scales[group] = value_scale<kFormat>(params, cells.rows[cell], group);
      }
      F8 values[kNumDimBlocks];
      for (int block = 0; block < kNumDimBlocks; ++block) {
        values[block] = load_value<kFormat, kMutation>(params, cells.rows[cell], block, scales);
      }
      for (int head = 0; head < kGroup; ++head) {
        const F8 weight = V::set1(weights[head * kChunk + cell]);
        for (int block = 0; block < kNumDimBlocks; ++block) {
          float* place = acc + head * kHeadDim + block * 8;
          V::store(place, V::fma(weight, values[block], V::load(place)));
        }
      }
    }
  }

  // Eight dims of all heads stay in registers over the chunk; values come four cells at a time.
  template <KvFormat kFormat, Mutation kMutation, int kHeadStride, int kCellStride>
  static void fold_four_cells(const Params& params,
                              const ChunkCells& cells,
                              const float* weights,
                              float* acc) {
    std::int64_t rows[kChunk];
    std::int32_t places[kChunk];
    float scales[kChunk][kMostGroups];
    int num_live = 0;
    for (int cell = 0; cell < kChunk; ++cell) {
      if (cells.is_live(cell)) {
        rows[num_live] = cells.rows[cell];
        places[num_live] = cell * kCellStride;
        for (int group = 0; group < num_groups<kFormat>(); ++group) {
          scales[num_live][group] = value_scale<kFormat>(params, cells.rows[cell], group);
        }
        ++num_live;
      }
    }
    for (int block = 0; block < kNumDimBlocks; ++block) {
      F8 sums[kGroup];
#pragma GCC unroll 12
      for (F8& sum : sums) {
        sum = V::set1(0.0F);
      }
      const auto fold = [&](F8 value, std::int32_t place) __attribute__((always_inline)) {
#pragma GCC unroll 12
        for (int head = 0; head < kGroup; ++head) {
          sums[head] = V::fma(V::set1(weights[place + head * kHeadStride]), value, sums[head]);
        }
      };
      int i = 0;
      for (; i + 4 <= num_live; i += 4) {
        F8 values[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          values[k] = load_value<kFormat, kMutation>(params, rows[i + k], block, scales[i + k]);
        }
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          const int turn = kMutation == Mutation::kFoldsOutOfOrder ? 3 - k : k;
          fold(values[turn], places[i + turn]);
        }
      }
      for (; i < num_live; ++i) {
        fold(load_value<kFormat, kMutation>(params, rows[i], block, scales[i]), places[i]);
      }
#pragma GCC unroll 12
      for (int head = 0; head < kGroup; ++head) {
        V::store(acc + head * kHeadDim + block * 8, sums[head]);
      }
    }
  }
};

}  // namespace assay::kernels::qsa_decode
