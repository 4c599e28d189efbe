// The warpgroup steps of kernels/attention/cuda_wgmma.cuh on the SIMT machine of tests. Each thread
// computes its own outputs; a step reads shared memory where it is issued. Swizzled panels are read
// by their definition, not by a descriptor.
#pragma once

#include "kernels/attention/tensor_core.h"
#include "tests/kernels/simt/primitives.h"

#include <bit>
#include <cstdint>

namespace assay::kernels::attention {

inline void wgmma_fence() {}

inline void wgmma_commit() {}

inline void wgmma_wait() {}

inline void fence_async_proxy() {}

// Element (row, column) of a panel of 64 columns.
inline std::uint16_t panel_element(const std::uint16_t* panel, int row, int column) {
  return panel[row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8];
}

inline void wgmma_rows_by_rows(float (&acc)[16][4],
                               const std::uint16_t* a_panel,
                               const std::uint16_t* b_panel,
                               int step,
                               bool accumulates) {
  const int lane = thread_id() % 32;
  const int first_row = thread_id() % 128 / 32 * 16 + lane / 4;
  for (int place = 0; place < 64; ++place) {
    const int row = first_row + place / 2 % 2 * 8;
    const int column = place / 4 * 8 + lane % 4 * 2 + place % 2;
    std::uint16_t a[16];
    std::uint16_t b[16];
    for (int k = 0; k < 16; ++k) {
      a[k] = panel_element(a_panel, row, 16 * step + k);
      b[k] = panel_element(b_panel, column, 16 * step + k);
    }
    float& sum = acc[place / 4][place % 4];
    sum = tensor_core_step(accumulates ? sum : 0.0F, a, b);
  }
}

inline void wgmma_registers_by_columns(float* acc,
                                       const std::uint32_t (&a)[4],
                                       const std::uint16_t* b_panel,
                                       int step,
                                       bool accumulates) {
  // The two rows of A: their 16 elements lie two by two in the four lanes of a row.
  const int quad = thread_id() % 4;
  std::uint16_t rows[2][16];
  for (int place = 0; place < 4; ++place) {
    for (int other = 0; other < 4; ++other) {
      const auto pair =
          std::bit_cast<std::uint32_t>(shuffle_xor(std::bit_cast<float>(a[place]), other));
      const int k = place / 2 * 8 + (quad ^ other) * 2;
      rows[place % 2][k] = static_cast<std::uint16_t>(pair);
      rows[place % 2][k + 1] = static_cast<std::uint16_t>(pair >> 16);
    }
  }
  for (int place = 0; place < 32; ++place) {
    const int column = place / 4 * 8 + quad * 2 + place % 2;
    std::uint16_t b[16];
    for (int k = 0; k < 16; ++k) {
      b[k] = panel_element(b_panel, 16 * step + k, column);
    }
    acc[place] = tensor_core_step(accumulates ? acc[place] : 0.0F, rows[place / 2 % 2], b);
  }
}

}  // namespace assay::kernels::attention
