// Warpgroup matrix steps of sm_90a over panels in shared memory: 64 columns of bf16, 128 bytes a
// row, in the 128-byte swizzle: chunk c (16 bytes) of row r lies at chunk c ^ (r % 8). A panel is
// aligned to 1,024 bytes. Their sums are those of mma.sync: one fused sum of 16 products and the
// accumulator. A warpgroup is four warps, the first of them a multiple of four; all its threads
// call together. Accumulators: lane holds columns 8 j + 2 (lane % 4) + c of row lane / 4 + 8 r of
// its warp's 16 rows at [4 j + 2 r + c].
#pragma once

#ifdef ASSAY_SIMT
#include ASSAY_SIMT_WARPGROUP
#else

#include "kernels/attention/cuda_primitives.cuh"

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

// Registers of each thread of a warpgroup from here on.
template <int kRegisters>
ASSAY_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
ASSAY_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- Barriers in shared memory that count arrivals and bytes, phase by phase ----

struct alignas(8) Barrier {
  std::uint64_t state;
};

// One thread; the others see it after fence_barriers() and a barrier of the block.
ASSAY_DEVICE void init_barrier(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

ASSAY_DEVICE void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

ASSAY_DEVICE void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

// The phase ends when `bytes` more have been copied.
ASSAY_DEVICE void expect_bytes(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

ASSAY_DEVICE void arrive_expecting(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

// Arrives when the thread's copy_async()s so far are done.
ASSAY_DEVICE void arrive_when_copied(Barrier& barrier) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&barrier))
      : "memory");
}

// Waits for the end of a phase; they are numbered 0, 1, 0, ...
ASSAY_DEVICE void wait_for_phase(Barrier& barrier, int phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(&barrier)),
      "r"(phase)
      : "memory");
}

// ---- Copies of boxes ----

using TensorMap = CUtensorMap;

// Fetches what copy_box() reads of a map.
ASSAY_DEVICE void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Rows from `row` on of 64 columns that begin at 8 * `unit` elements, as many as the map's box has,
// to a place aligned to 1,024 bytes.
ASSAY_DEVICE void copy_box(std::uint16_t* target,
                           const TensorMap& map,
                           std::int32_t row,
                           std::int64_t unit,
                           Barrier& barrier) {
  constexpr std::uint64_t kEvictFirst = 0x12f0000000000000;
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(target)),
      "l"(&map),
      "r"(shared_address(&barrier)),
      "r"(0),
      "r"(static_cast<std::int32_t>(unit)),
      "r"(row),
      "l"(kEvictFirst)
      : "memory");
}

// Accumulators as operands that are read and written, as many as a step has.
#define ASSAY_SUMS_8_FROM(sums, i)                                                      \
  "+f"((sums)[i]), "+f"((sums)[(i) + 1]), "+f"((sums)[(i) + 2]), "+f"((sums)[(i) + 3]), \
      "+f"((sums)[(i) + 4]), "+f"((sums)[(i) + 5]), "+f"((sums)[(i) + 6]), "+f"((sums)[(i) + 7])
#define ASSAY_SUMS_8(sums) ASSAY_SUMS_8_FROM(sums, 0)
#define ASSAY_SUMS_32(sums)                                                            \
  ASSAY_SUMS_8_FROM(sums, 0), ASSAY_SUMS_8_FROM(sums, 8), ASSAY_SUMS_8_FROM(sums, 16), \
      ASSAY_SUMS_8_FROM(sums, 24)
#define ASSAY_SUMS_64(sums)                                                      \
  ASSAY_SUMS_32(sums), ASSAY_SUMS_8_FROM(sums, 32), ASSAY_SUMS_8_FROM(sums, 40), \
      ASSAY_SUMS_8_FROM(sums, 48), ASSAY_SUMS_8_FROM(sums, 56)

// ---- Steps ----

// Orders registers and earlier reads before the steps that follow.
ASSAY_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

ASSAY_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for the warpgroup's steps, but for the newest kPending groups of them.
template <int kPending = 0>
ASSAY_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Before a barrier after which the tensor cores read what this thread's copies wrote.
ASSAY_DEVICE void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// 128-byte swizzle, 1,024 bytes from one group of eight rows to the next; from element `first` of a
// panel on, a multiple of 8.
ASSAY_DEVICE std::uint64_t panel_descriptor(const std::uint16_t* panel, int first) {
  constexpr std::uint32_t kHigh = 64U | (1U << 30);
  const std::uint32_t low = ((shared_address(panel) & 0x3ffffU) >> 4) | (1U << 16);
  return (std::uint64_t{kHigh} << 32) | (low + static_cast<std::uint32_t>(first) / 8);
}

// acc[64 x 128] (+)= A[64 x 16] B[128 x 16]^T: columns 16 step .. of both panels. The first step of
// a sum does not read acc.
ASSAY_DEVICE void wgmma_rows_by_rows(float (&acc)[16][4],
                                     const std::uint16_t* a_panel,
                                     const std::uint16_t* b_panel,
                                     int step,
                                     bool accumulates) {
  const std::uint64_t a = panel_descriptor(a_panel, 16 * step);
  const std::uint64_t b = panel_descriptor(b_panel, 16 * step);
  float* flat = &acc[0][0];
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, 0, 0;\n"
      "}\n"
      : ASSAY_SUMS_64(flat)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulates)));
}

// acc[64 x 64] (+)= A[64 x 16] B: both in shared memory, by descriptors. B has a row for each
// column of acc, or, where it is transposed, for each k.
template <bool kIsTransposed>
ASSAY_DEVICE void wgmma_64_columns(float* acc, std::uint64_t a, std::uint64_t b, bool accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, p, 1, 1, 0, %35;\n"
      "}\n"
      : ASSAY_SUMS_32(acc)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulates)), "n"(kIsTransposed ? 1 : 0));
}

// acc[64 x 16] (+)= A B[16 x 16]^T: both in shared memory, by descriptors. A has a row for each row
// of acc, or, where it is transposed, for each k.
template <bool kIsTransposed>
ASSAY_DEVICE void wgmma_16_columns(float (&acc)[2][4],
                                   std::uint64_t a,
                                   std::uint64_t b,
                                   bool accumulates) {
  float* flat = &acc[0][0];
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7"
      "}, %8, %9, p, 1, 1, %11, 0;\n"
      "}\n"
      : ASSAY_SUMS_8(flat)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulates)), "n"(kIsTransposed ? 1 : 0));
}

// acc[64 x 16] (+)= A[64 x 16] B[16 x 16]^T: columns 16 step .. of both panels.
ASSAY_DEVICE void wgmma_rows_by_rows(float (&acc)[2][4],
                                     const std::uint16_t* a_panel,
                                     const std::uint16_t* b_panel,
                                     int step,
                                     bool accumulates) {
  wgmma_16_columns<false>(
      acc, panel_descriptor(a_panel, 16 * step), panel_descriptor(b_panel, 16 * step), accumulates);
}

// acc[64 x 16] (+)= A[16 x 64]^T B[16 x 16]^T: rows 16 step .. of A's panel, columns 16 (step % 4)
// .. of B's.
ASSAY_DEVICE void wgmma_columns_by_rows(float (&acc)[2][4],
                                        const std::uint16_t* a_panel,
                                        const std::uint16_t* b_panel,
                                        int step,
                                        bool accumulates) {
  wgmma_16_columns<true>(acc,
                         panel_descriptor(a_panel, 16 * 64 * step),
                         panel_descriptor(b_panel, 16 * (step % 4)),
                         accumulates);
}

// acc[64 x 64] (+)= A[64 x 16] B[64 x 16]^T: columns 16 step .. of both panels.
ASSAY_DEVICE void wgmma_rows_by_rows(float (&acc)[8][4],
                                     const std::uint16_t* a_panel,
                                     const std::uint16_t* b_panel,
                                     int step,
                                     bool accumulates) {
  wgmma_64_columns<false>(&acc[0][0],
                          panel_descriptor(a_panel, 16 * step),
                          panel_descriptor(b_panel, 16 * step),
                          accumulates);
}

// acc[64 x 64] (+)= A[64 x 16] B[16 x 64]: columns 16 (step % 4) .. of A's panel, rows 16 step ..
// of B's.
ASSAY_DEVICE void wgmma_rows_by_columns(float* acc,
                                        const std::uint16_t* a_panel,
                                        const std::uint16_t* b_panel,
                                        int step,
                                        bool accumulates) {
  wgmma_64_columns<true>(acc,
                         panel_descriptor(a_panel, 16 * (step % 4)),
                         panel_descriptor(b_panel, 16 * 64 * step),
                         accumulates);
}

// acc[64 x 64] (+)= A[64 x 16] B[16 x 64]: rows 16 step .. of the panel; A in registers, two bf16
// each: row lane / 4, columns 2 (lane % 4) and the next; row + 8; columns + 8; both.
ASSAY_DEVICE void wgmma_registers_by_columns(float* acc,
                                             const std::uint32_t (&a)[4],
                                             const std::uint16_t* b_panel,
                                             int step,
                                             bool accumulates) {
  const std::uint64_t b = panel_descriptor(b_panel, 16 * 64 * step);
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, {%32, %33, %34, %35}, %36, p, 1, 1, 1;\n"
      "}\n"
      : ASSAY_SUMS_32(acc)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulates)));
}

#undef ASSAY_SUMS_64
#undef ASSAY_SUMS_32
#undef ASSAY_SUMS_8
#undef ASSAY_SUMS_8_FROM

}  // namespace assay::kernels::attention

#endif
