// The primitives of kernels/attention/cuda_primitives.cuh on the SIMT machine of tests.
#pragma once

#include "kernels/attention/softmax.h"
#include "tests/kernels/simt/block.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#define ASSAY_DEVICE inline
#define ASSAY_UNROLL
#define ASSAY_NO_UNROLL

namespace assay::kernels::attention {

using simt::barrier_sync;
using simt::block_id;
using simt::commit_copies;
using simt::copy_async;
using simt::multiply_add;
using simt::num_threads;
using simt::shared_memory;
using simt::shuffle_from;
using simt::shuffle_xor;
using simt::sync_block;
using simt::sync_warp;
using simt::thread_id;

inline float shuffle_from(float value, int lane) {
  return float_of(
      static_cast<std::uint32_t>(shuffle_from(static_cast<std::int32_t>(bits_of(value)), lane)));
}

// Stages of tests run one after the other.
inline void let_dependent_begin() {}

inline void wait_for_grid_before() {}

inline std::int32_t warp_sum(std::int32_t value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    value += shuffle_from(value, (thread_id() % 32) ^ distance);
  }
  return value;
}

inline std::uint32_t warp_mask(bool is_true) {
  return static_cast<std::uint32_t>(
      warp_sum(static_cast<std::int32_t>(is_true ? 1U << (thread_id() % 32) : 0U)));
}

inline void load_matrices(std::uint32_t (&matrices)[4], const std::byte* row) {
  simt::load_matrices(matrices, row, false);
}

inline void load_matrices_transposed(std::uint32_t (&matrices)[4], const std::byte* row) {
  simt::load_matrices(matrices, row, true);
}

template <int kPending>
void wait_for_copies() {
  simt::wait_for_copies(kPending);
}

inline std::uint32_t pack_bf16(float low, float high) {
  return static_cast<std::uint32_t>(to_bf16(low)) | static_cast<std::uint32_t>(to_bf16(high)) << 16;
}

inline float hardware_exp2(float x) {
  return std::exp2(x);
}

}  // namespace assay::kernels::attention
