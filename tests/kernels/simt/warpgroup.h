// The steps, barriers and copies of kernels/attention/cuda_wgmma.cuh on the SIMT machine of tests.
// Each thread computes its own outputs; a step reads shared memory at the wait that covers it.
// Swizzled panels are read and written by their definition, not by a descriptor.
#pragma once

#include "kernels/attention/tensor_core.h"
#include "tests/kernels/simt/primitives.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

template <int kRegisters>
void take_registers() {}

template <int kRegisters>
void give_registers() {}

// ---- Barriers ----

struct alignas(8) Barrier {
  std::uint64_t state;
};

inline void init_barrier(Barrier& barrier, int arrivals) {
  simt::init_phases(&barrier, arrivals);
}

inline void fence_barriers() {}

inline void arrive(Barrier& barrier) {
  simt::arrive(&barrier);
}

inline void expect_bytes(Barrier& barrier, int bytes) {
  simt::expect_bytes(&barrier, bytes);
}

inline void arrive_expecting(Barrier& barrier, int bytes) {
  simt::expect_bytes(&barrier, bytes);
  simt::arrive(&barrier);
}

inline void arrive_when_copied(Barrier& barrier) {
  simt::arrive_when_copied(&barrier);
}

inline void wait_for_phase(Barrier& barrier, int phase) {
  simt::wait_for_phase(&barrier, phase);
}

// ---- Copies of boxes ----

struct TensorMap {
  const std::uint16_t* elements = nullptr;
  std::int64_t num_elements = 0;
  std::int64_t row_elements = 0;
  int box_rows = 0;
};

// A box that is not wholly in the tensor ends the run.
inline void prefetch_map(const TensorMap& /*map*/) {}

inline void copy_box(std::uint16_t* target,
                     const TensorMap& map,
                     std::int32_t row,
                     std::int64_t unit,
                     Barrier& barrier) {
  constexpr int kChunks = 8;
  constexpr int kChunk = 8;  // elements
  if (std::bit_cast<std::uintptr_t>(target) % 1'024 != 0) {
    simt::fail("copy_box: a target that is not on 1,024 bytes");
  }
  for (int i = 0; i < map.box_rows; ++i) {
    const std::int64_t first = kChunk * unit + (std::int64_t{row} + i) * map.row_elements;
    if (first < 0 || first + kChunks * kChunk > map.num_elements) {
      simt::fail("copy_box: a row outside the tensor");
    }
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      simt::copy_counted(&barrier,
                         target + (kChunks * i + (chunk ^ i % kChunks)) * kChunk,
                         map.elements + first + kChunk * chunk);
    }
  }
}

// ---- Steps ----

inline void wgmma_fence() {}

inline void wgmma_commit() {
  simt::commit_steps();
}

template <int kPending = 0>
void wgmma_wait() {
  simt::wait_for_steps(kPending);
}

inline void fence_async_proxy() {}

// Element (row, column) of a panel of 64 columns.
inline std::uint16_t panel_element(const std::uint16_t* panel, int row, int column) {
  return panel[row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8];
}

// A step of 64 rows by 8 kEights columns, acc flat in its order; a_of(row, k) and b_of(column, k)
// are elements of the two operands, k in 0..15.
template <int kEights, class OfA, class OfB>
void issue_panel_step(float* acc, bool accumulates, const OfA& a_of, const OfB& b_of) {
  simt::issue_step([=, thread = thread_id()] {
    const int lane = thread % 32;
    const int first_row = thread % 128 / 32 * 16 + lane / 4;
    for (int place = 0; place < 4 * kEights; ++place) {
      const int row = first_row + place / 2 % 2 * 8;
      const int column = place / 4 * 8 + lane % 4 * 2 + place % 2;
      std::uint16_t a[16];
      std::uint16_t b[16];
      for (int k = 0; k < 16; ++k) {
        a[k] = a_of(row, k);
        b[k] = b_of(column, k);
      }
      acc[place] = tensor_core_step(accumulates ? acc[place] : 0.0F, a, b);
    }
  });
}

template <std::size_t kEights>
void wgmma_rows_by_rows(float (&acc)[kEights][4],
                        const std::uint16_t* a_panel,
                        const std::uint16_t* b_panel,
                        int step,
                        bool accumulates) {
  issue_panel_step<static_cast<int>(kEights)>(
      &acc[0][0],
      accumulates,
      [=](int row, int k) { return panel_element(a_panel, row, 16 * step + k); },
      [=](int column, int k) { return panel_element(b_panel, column, 16 * step + k); });
}

inline void wgmma_rows_by_columns(float* acc,
                                  const std::uint16_t* a_panel,
                                  const std::uint16_t* b_panel,
                                  int step,
                                  bool accumulates) {
  issue_panel_step<8>(
      acc,
      accumulates,
      [=](int row, int k) { return panel_element(a_panel, row, 16 * (step % 4) + k); },
      [=](int column, int k) { return panel_element(b_panel, 16 * step + k, column); });
}

template <std::size_t kEights>
void wgmma_columns_by_rows(float (&acc)[kEights][4],
                           const std::uint16_t* a_panel,
                           const std::uint16_t* b_panel,
                           int step,
                           bool accumulates) {
  issue_panel_step<static_cast<int>(kEights)>(
      &acc[0][0],
      accumulates,
      [=](int row, int k) { return panel_element(a_panel, 16 * step + k, row); },
      [=](int column, int k) { return panel_element(b_panel, column, 16 * (step % 4) + k); });
}

inline void wgmma_registers_by_columns(float* acc,
                                       const std::uint32_t (&a)[4],
                                       const std::uint16_t* b_panel,
                                       int step,
                                       bool accumulates) {
  // The two rows of A: their 16 elements lie two by two in the four lanes of a row.
  const int quad = thread_id() % 4;
  std::array<std::array<std::uint16_t, 16>, 2> rows;
  for (std::size_t place = 0; place < 4; ++place) {
    for (int other = 0; other < 4; ++other) {
      const auto pair =
          std::bit_cast<std::uint32_t>(shuffle_xor(std::bit_cast<float>(a[place]), other));
      const std::size_t k = place / 2 * 8 + static_cast<std::size_t>(quad ^ other) * 2;
      rows[place % 2][k] = static_cast<std::uint16_t>(pair);
      rows[place % 2][k + 1] = static_cast<std::uint16_t>(pair >> 16);
    }
  }
  simt::issue_step([=] {
    for (int place = 0; place < 32; ++place) {
      const int column = place / 4 * 8 + quad * 2 + place % 2;
      std::uint16_t b[16];
      for (int k = 0; k < 16; ++k) {
        b[k] = panel_element(b_panel, 16 * step + k, column);
      }
      const std::uint16_t* row = rows[static_cast<std::size_t>(place / 2 % 2)].data();
      acc[place] = tensor_core_step(accumulates ? acc[place] : 0.0F, row, b);
    }
  });
}

}  // namespace assay::kernels::attention
