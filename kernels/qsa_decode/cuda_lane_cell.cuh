// The chunk kernel with one thread per cell and three heads: a thread walks its cell's dims in the
// order in which the butterfly's tree can be summed in registers, without a shuffle. K rows are
// staged in shared memory by wide coalesced loads.
#pragma once

#include "kernels/qsa_decode/cuda_values.cuh"

namespace assay::kernels::qsa_decode {

inline constexpr int kHeadsPerThread = 3;
inline constexpr int kTreeBlocks = 8;  // runs of four lanes, 32 dims
inline constexpr int kLanesPerBlock = kLanes / kTreeBlocks;
inline constexpr int kTreeLevels = 3;  // 16, 8 and 4: between blocks

static_assert(kChunkThreads == kChunk * kGroup / kHeadsPerThread, "a thread per cell, three heads");

// The K rows of a chunk in shared memory, laid out so that a warp's threads, each in a row of its
// own, meet no bank conflict: 16-byte pieces change places by row, q4_0 rows are a word apart.
template <Encoding kEncoding>
struct StagedKeys {
  static constexpr int kPiecesPerRow = (kEncoding == Encoding::kF16 ? 2 : 1) * kHeadDim / 16;
  uint4 pieces[kChunk * kPiecesPerRow];

  __device__ void stage(const Params& params, const std::int64_t* rows, int thread) {
    const auto* source = static_cast<const uint4*>(params.k);
#pragma unroll
    for (int i = thread; i < kChunk * kPiecesPerRow; i += kChunkThreads) {
      const int cell = i / kPiecesPerRow;
      const int piece = i % kPiecesPerRow;
      if (rows[cell] >= 0) {
        pieces[place(cell, piece)] = __ldg(source + rows[cell] * kPiecesPerRow + piece);
      }
    }
  }

  // The codes of lane `4 * block + i` for each i.
  __device__ void read(int cell, int block, KeyCodes (&codes)[kLanesPerBlock]) const {
    if constexpr (kEncoding == Encoding::kF16) {
#pragma unroll
      for (int i = 0; i < kLanesPerBlock; ++i) {
        const uint4 piece = pieces[place(cell, block * kLanesPerBlock + i)];
        codes[i] = {{piece.x, piece.y, piece.z, piece.w}, 0U};
      }
    } else {
#pragma unroll
      for (int i = 0; i < kLanesPerBlock; i += 2) {
        const uint4 piece = pieces[place(cell, (block * kLanesPerBlock + i) / 2)];
        codes[i] = {{piece.x, piece.y, 0U, 0U}, 0U};
        codes[i + 1] = {{piece.z, piece.w, 0U, 0U}, 0U};
      }
    }
  }

 private:
  static __device__ int place(int cell, int piece) {
    return cell * kPiecesPerRow + (piece ^ (cell & 7));
  }
};

template <>
struct StagedKeys<Encoding::kQ4> {
  static constexpr int kPiecesPerRow = kQ4RowBytes / 16;
  static constexpr int kWordsPerRow = kQ4RowBytes / 4 + 1;
  std::uint32_t words[kChunk * kWordsPerRow];

  __device__ void stage(const Params& params, const std::int64_t* rows, int thread) {
    const auto* source = static_cast<const uint4*>(params.k);
    for (int i = thread; i < kChunk * kPiecesPerRow; i += kChunkThreads) {
      const int cell = i / kPiecesPerRow;
      const int piece = i % kPiecesPerRow;
      if (rows[cell] >= 0) {
        const uint4 loaded = __ldg(source + rows[cell] * kPiecesPerRow + piece);
        std::uint32_t* target = words + cell * kWordsPerRow + piece * 4;
        target[0] = loaded.x;
        target[1] = loaded.y;
        target[2] = loaded.z;
        target[3] = loaded.w;
      }
    }
  }

  // Two blocks are nine words: an even one begins with its scale, an odd one half a word later.
  __device__ void read(int cell, int block, KeyCodes (&codes)[kLanesPerBlock]) const {
    const std::uint32_t* pair = words + cell * kWordsPerRow + block / 2 * 9;
    std::uint32_t nibbles[4];
    std::uint32_t scale;
    if (block % 2 == 0) {
      scale = pair[0] & 0xFFFFU;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        nibbles[i] = __funnelshift_r(pair[i], pair[i + 1], 16);
      }
    } else {
      scale = pair[4] >> 16;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        nibbles[i] = pair[5 + i];
      }
    }
#pragma unroll
    for (int i = 0; i < kLanesPerBlock; ++i) {
      codes[i] = {{nibbles[i % 2 * 2], nibbles[i % 2 * 2 + 1], 0U, 0U}, scale};
    }
  }
};

// Scores of one live cell for three heads, from the tree of 32 lane sums: blocks are visited in
// bit-reversed order, so that each level of the tree waits for one partner only.
template <Encoding kKey>
__device__ inline void score_cell(const StagedKeys<kKey>& keys,
                                  const ushort4& scales,
                                  const float4 (&q)[kGroup][kHeadDim / 4],
                                  int cell,
                                  int first_head,
                                  float (&scores)[kHeadsPerThread]) {
  float waiting[kTreeLevels][kLanesPerBlock][kHeadsPerThread];
  float sums[kLanesPerBlock][kHeadsPerThread];
#pragma unroll
  for (int visit = 0; visit < kTreeBlocks; ++visit) {
    const int block = (visit & 1) * 4 + (visit & 2) + (visit & 4) / 4;
    KeyCodes codes[kLanesPerBlock];
    keys.read(cell, block, codes);
#pragma unroll
    for (int i = 0; i < kLanesPerBlock; ++i) {
      if constexpr (kKey == Encoding::kI8) {
        const int group = block / 2;
        codes[i].scale = group == 0   ? scales.x
                         : group == 1 ? scales.y
                         : group == 2 ? scales.z
                                      : scales.w;
      }
      const int lane = block * kLanesPerBlock + i;
      float k[kDimsPerLane];
      widen_key<kKey>(codes[i], lane, k);
#pragma unroll
      for (int head = 0; head < kHeadsPerThread; ++head) {
        const float4* slice = &q[first_head + head][lane * 2];
        sums[i][head] = lane_dot(k, slice[0], slice[1]);
      }
    }

    // A visit completes as many levels as its number has trailing ones; then it waits itself.
#pragma unroll
    for (int level = 0; level <= kTreeLevels; ++level) {
      const bool is_reached = (visit & ((1 << level) - 1)) == (1 << level) - 1;
      const bool has_partner = (visit & (1 << level)) != 0;
      if (!is_reached || level == kTreeLevels) {
        continue;
      }
#pragma unroll
      for (int i = 0; i < kLanesPerBlock; ++i) {
#pragma unroll
        for (int head = 0; head < kHeadsPerThread; ++head) {
          if (has_partner) {
            sums[i][head] = __fadd_rn(waiting[level][i][head], sums[i][head]);
          } else {
            waiting[level][i][head] = sums[i][head];
          }
        }
      }
    }
  }
#pragma unroll
  for (int head = 0; head < kHeadsPerThread; ++head) {
    const float even = __fadd_rn(sums[0][head], sums[2][head]);
    const float odd = __fadd_rn(sums[1][head], sums[3][head]);
    scores[head] = score_of(__fadd_rn(even, odd));
  }
}

template <KvFormat kFormat>
__global__ void __launch_bounds__(kChunkThreads)
    qsa_decode_lane_cell_chunk_kernel(const __grid_constant__ Params params, bool prefetch) {
  constexpr Encoding kKey = key_encoding(kFormat);
  constexpr Encoding kValue = value_encoding(kFormat);
  __shared__ float4 q[kGroup][kHeadDim / 4];  // later the weights
  __shared__ StagedKeys<kKey> keys;
  __shared__ float scores[kGroup][kChunk];
  __shared__ std::int64_t rows[kChunk];

  const ChunkTile tile = ChunkTile::of_block();
  const int thread = static_cast<int>(threadIdx.x);
  const int cells = num_cells(params, tile);
  if (cells == 0) {
    mark_empty(params, tile);
    return;
  }

  if (thread < kChunk) {
    rows[thread] = row_of_cell(params, tile, thread, cells);
  }
  const std::int64_t q_head = tile.query * kNumHeads + tile.kv_head * kGroup;
  const auto* quads = reinterpret_cast<const float4*>(params.q + q_head * kHeadDim);
#pragma unroll
  for (int i = thread; i < kGroup * kHeadDim / 4; i += kChunkThreads) {
    q[i / (kHeadDim / 4)][i % (kHeadDim / 4)] = __ldg(quads + i);
  }
  __syncthreads();

  const int cell = thread % kChunk;
  const int first_head = thread / kChunk * kHeadsPerThread;
  ushort4 scales = {};
  if constexpr (kKey == Encoding::kI8) {
    if (rows[cell] >= 0) {
      scales = __ldg(static_cast<const ushort4*>(params.k_scales) + rows[cell]);
    }
  }
  keys.stage(params, rows, thread);
  if (prefetch) {
    prefetch_rows<kValue>(params.v, rows, thread);
  }
  __syncthreads();

  float mine[kHeadsPerThread] = {kEmptyMark, kEmptyMark, kEmptyMark};
  if (rows[cell] >= 0) {
    score_cell<kKey>(keys, scales, q, cell, first_head, mine);
  }
#pragma unroll
  for (int head = 0; head < kHeadsPerThread; ++head) {
    scores[first_head + head][cell] = mine[head];
  }
  __syncthreads();

  // The barrier above was q's last use: its storage now holds the weights.
  auto* weights = reinterpret_cast<float*>(q);
  weigh_chunk<PolynomialExp>(params, tile, scores, rows, weights, thread / kLanes, thread % kLanes);
  __syncthreads();

  float acc[kGroup] = {};
  fold_values<kValue>(params, rows, weights, cells, thread, acc);
  store_acc(params, tile, acc, thread);
}

}  // namespace assay::kernels::qsa_decode
