// The merge stage on cpu, over a vector type V of eight floats: one chain of fma over ascending
// chunks and one division. `all_chunks` walks the capacity with its accumulators in memory;
// `bounded` stops at the width and folds a batch of chunks while they stay in registers.
#pragma once

#include "kernels/numerics.h"
#include "kernels/qsa_decode/cpu_kernels.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

template <class V>
struct MergeStage {
  using F8 = typename V::F8;

  static constexpr int kMostBatch = 32;
  static constexpr int kTileBlocks = 8;  // vectors of dims that stay in registers
  static constexpr int kNumDimBlocks = kHeadDim / 8;

  // Partials of one query and head: m and l of chunk c at [c * 12], acc at [c * 12 * 256].
  struct Partials {
    const float* acc;
    const float* m;
    const float* l;
    std::int32_t width;
  };

  static Partials partials_of(const Params& params, const MergeTask& task) {
    const int kv_head = task.head / kGroup;
    const std::int64_t index =
        (std::int64_t{task.query} * kNumKvHeads + kv_head) * params.num_chunks * kGroup +
        task.head % kGroup;
    return {.acc = params.acc + index * kHeadDim,
            .m = params.m + index,
            .l = params.l + index,
            .width = params.steps[std::int64_t{task.query} * params.steps_stride + 3]};
  }

  static float* output_of(const Params& params, const MergeTask& task) {
    return params.out + (std::int64_t{task.query} * kNumHeads + task.head) * kHeadDim;
  }

  template <bool kHwExp>
  static float weight_of(float x) {
    if constexpr (kHwExp) {
      return __builtin_expf(x);
    } else {
      return exp_bits(x);
    }
  }

  static float max_of(const Partials& partials, std::int32_t num_chunks) {
    float most = kEmptyMark;
    for (std::int64_t chunk = 0; chunk < num_chunks; ++chunk) {
      const float m = partials.m[chunk * kGroup];
      most = m > most ? m : most;
    }
    return most;
  }

  template <Mutation kMutation>
  static void write_output(const float* sums, float total, float* out) {
    constexpr int kNumBlocks =
        kMutation == Mutation::kLeavesOutputTailUnwritten ? kNumDimBlocks - 1 : kNumDimBlocks;
    for (int block = 0; block < kNumBlocks; ++block) {
      const F8 sum = V::load(sums + block * 8);
      V::store(out + block * 8, total > 0.0F ? V::div(sum, V::set1(total)) : V::set1(0.0F));
    }
  }

  template <bool kHwExp, Mutation kMutation>
  static void all_chunks(const Params& params, const MergeTask& task) {
    const Partials partials = partials_of(params, task);
    const float most = max_of(partials, params.num_chunks);
    float total = 0.0F;
    float sums[kHeadDim] = {};
    for (std::int64_t turn = 0; turn < params.num_chunks; ++turn) {
      std::int64_t chunk = turn;
      if constexpr (kMutation == Mutation::kMergeFoldsInReverse) {
        chunk = params.num_chunks - 1 - turn;
      }
      const float m = partials.m[chunk * kGroup];
      if (m == kEmptyMark) {
        continue;
      }
      const float weight = weight_of<kHwExp>(m - most);
      total = fma_bits(partials.l[chunk * kGroup], weight, total);
      const float* acc = partials.acc + chunk * kGroup * kHeadDim;
      for (int dim = 0; dim < kHeadDim; dim += 8) {
        V::store(sums + dim, V::fma(V::load(acc + dim), V::set1(weight), V::load(sums + dim)));
      }
    }
    write_output<kMutation>(sums, total, output_of(params, task));
  }

  // Chunks of a batch that are not empty, with their weights.
  struct Batch {
    std::int32_t num_live = 0;
    float weights[kMostBatch];
    const float* acc[kMostBatch];
  };

  template <bool kHwExp, Mutation kMutation>
  static void bounded(const Params& params, const MergeTask& task) {
    const Partials partials = partials_of(params, task);
    std::int32_t num_active = partials.width <= 0 ? 0 : (partials.width - 1) / kChunk + 1;
    num_active = num_active < params.num_chunks ? num_active : params.num_chunks;
    if constexpr (kMutation == Mutation::kMergeStopsEarly) {
      num_active = num_active > 0 ? num_active - 1 : 0;
    }
    const float most = max_of(partials, num_active);
    std::int32_t num_folded = num_active;
    if constexpr (kMutation == Mutation::kMergeReadsPastBound) {
      num_folded = num_active < params.num_chunks ? num_active + 1 : num_active;
    }
    float total = 0.0F;
    float sums[kHeadDim] = {};
    for (std::int32_t first = 0; first < num_folded; first += task.batch) {
      const std::int32_t left = num_folded - first;
      const std::int32_t size = left < task.batch ? left : task.batch;
      Batch batch;
      for (std::int64_t chunk = first; chunk < first + size; ++chunk) {
        const float m = partials.m[chunk * kGroup];
        if (m == kEmptyMark && chunk < num_active) {
          continue;
        }
        const float weight = weight_of<kHwExp>(m - most);
        total = fma_bits(partials.l[chunk * kGroup], weight, total);
        batch.weights[batch.num_live] = weight;
        batch.acc[batch.num_live] = partials.acc + chunk * kGroup * kHeadDim;
        ++batch.num_live;
      }
      fold(batch, sums);
    }
    write_output<kMutation>(sums, total, output_of(params, task));
  }

  static void fold(const Batch& batch, float* sums) {
    for (int dim = 0; dim < kHeadDim; dim += kTileBlocks * 8) {
      F8 tile[kTileBlocks];
#pragma GCC unroll 8
      for (int block = 0; block < kTileBlocks; ++block) {
        tile[block] = V::load(sums + dim + block * 8);
      }
      for (int i = 0; i < batch.num_live; ++i) {
        const F8 weight = V::set1(batch.weights[i]);
        const float* acc = batch.acc[i] + dim;
#pragma GCC unroll 8
        for (int block = 0; block < kTileBlocks; ++block) {
          tile[block] = V::fma(V::load(acc + block * 8), weight, tile[block]);
        }
      }
#pragma GCC unroll 8
      for (int block = 0; block < kTileBlocks; ++block) {
        V::store(sums + dim + block * 8, tile[block]);
      }
    }
  }
};

}  // namespace assay::kernels::qsa_decode
