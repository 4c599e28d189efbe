// Tiles of keys, values or queries in shared memory and their tensor-core fragments. A tile's row
// is the kDim bf16 of one key or pair; its 16-byte chunks are exchanged by XOR with the row's
// number modulo 8, so that eight rows of one chunk lie in different banks.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_primitives.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kLanes = 32;
inline constexpr int kChunkBytes = 16;
inline constexpr int kChunkElements = 8;
inline constexpr int kColumnKeys = 8;                      // n of a tensor-core step
inline constexpr int kColumns = kSliceKeys / kColumnKeys;  // of a slice's scores
inline constexpr int kUnits = kSliceKeys / kStepKeys;      // of 16 keys in a slice
inline constexpr float kNoScore = -__builtin_inff();

template <int kDim>
inline constexpr int kRowBytes = kDim * 2;

ASSAY_DEVICE int lane_id() {
  return thread_id() % kLanes;
}

ASSAY_DEVICE int warp_id() {
  return thread_id() / kLanes;
}

template <int kDim>
ASSAY_DEVICE std::byte* chunk_of(std::byte* tile, int row, int chunk) {
  return tile + row * kRowBytes<kDim> + ((chunk ^ (row % 8)) * kChunkBytes);
}

template <int kDim>
ASSAY_DEVICE const std::byte* chunk_of(const std::byte* tile, int row, int chunk) {
  return tile + row * kRowBytes<kDim> + ((chunk ^ (row % 8)) * kChunkBytes);
}

// A fragment of 16 pairs over dims 16 step .. 16 step + 15.
template <int kDim>
ASSAY_DEVICE void load_queries(std::uint32_t (&a)[4], const std::byte* queries, int step) {
  const int lane = lane_id();
  const int row = lane % 8 + (lane / 8) % 2 * 8;
  load_matrices(a, chunk_of<kDim>(queries, row, 2 * step + lane / 16));
}

// Scores of 16 keys, before the scale, of 16 pairs: columns 0 and 1 of `scores`.
template <int kDim>
ASSAY_DEVICE void multiply_keys(float (&low)[4],
                                float (&high)[4],
                                const std::byte* queries,
                                const std::byte* keys) {
  const int lane = lane_id();
  const int row = lane % 8 + lane / 16 * 8;
  ASSAY_UNROLL
  for (int step = 0; step < kDim / kStepKeys; ++step) {
    std::uint32_t a[4];
    std::uint32_t b[4];
    load_queries<kDim>(a, queries, step);
    load_matrices(b, chunk_of<kDim>(keys, row, 2 * step + (lane / 8) % 2));
    multiply_add(low, a, b[0], b[1]);
    multiply_add(high, a, b[2], b[3]);
  }
}

// Adds the product of 16 keys' weights and values to kDim columns of o.
template <int kDim, int kColumnsOfO>
ASSAY_DEVICE void multiply_values(float (&o)[kColumnsOfO][4],
                                  const std::uint32_t (&weights)[4],
                                  const std::byte* values,
                                  int first_chunk) {
  const int lane = lane_id();
  const int row = lane % 8 + (lane / 8) % 2 * 8;
  ASSAY_UNROLL
  for (int pair = 0; pair < kColumnsOfO / 2; ++pair) {
    std::uint32_t b[4];
    load_matrices_transposed(b, chunk_of<kDim>(values, row, first_chunk + 2 * pair + lane / 16));
    multiply_add(o[2 * pair], weights, b[0], b[1]);
    multiply_add(o[2 * pair + 1], weights, b[2], b[3]);
  }
}

}  // namespace assay::kernels::attention
