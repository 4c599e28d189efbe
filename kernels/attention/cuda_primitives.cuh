// What attention's kernels ask of the hardware beyond plain C++, as thin functions. Kernel bodies
// are templates over nothing else of CUDA, so that a host emulation of a block can stand in: a
// source that defines ASSAY_SIMT as a header's name compiles the same bodies with that header.
// Compute capability 8.0 and newer.
#pragma once

#ifdef ASSAY_SIMT
#include ASSAY_SIMT
#else

#include "kernels/attention/softmax.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "attention's kernels need compute capability 8.0"
#endif

#define ASSAY_DEVICE __device__ __forceinline__
#define ASSAY_UNROLL _Pragma("unroll")
#define ASSAY_NO_UNROLL _Pragma("unroll 1")

namespace assay::kernels::attention {

inline constexpr unsigned kEveryLane = 0xFFFFFFFFU;

ASSAY_DEVICE int thread_id() {
  return static_cast<int>(threadIdx.x);
}

ASSAY_DEVICE int num_threads() {
  return static_cast<int>(blockDim.x);
}

ASSAY_DEVICE std::int64_t block_id() {
  return blockIdx.x;
}

// The block's dynamic shared memory, aligned as copies of boxes need it.
ASSAY_DEVICE std::byte* shared_memory() {
  extern __shared__ __align__(1024) std::byte attention_shared_memory[];
  return attention_shared_memory;
}

ASSAY_DEVICE void sync_block() {
  __syncthreads();
}

ASSAY_DEVICE void sync_warp() {
  __syncwarp();
}

// Lets the grid that is launched as this one's dependent begin once all blocks have called it.
ASSAY_DEVICE void let_dependent_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What the grid before has written is there. What that one read may be read before.
ASSAY_DEVICE void wait_for_grid_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A named barrier of `threads` threads, 1 to 15.
ASSAY_DEVICE void barrier_sync(int barrier, int threads) {
  // A warp arrives as a whole.
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

ASSAY_DEVICE float shuffle_xor(float value, int mask) {
  return __shfl_xor_sync(kEveryLane, value, mask);
}

// The value that lane `lane` modulo 32 has.
ASSAY_DEVICE std::int32_t shuffle_from(std::int32_t value, int lane) {
  return __shfl_sync(kEveryLane, value, lane);
}

ASSAY_DEVICE float shuffle_from(float value, int lane) {
  return __shfl_sync(kEveryLane, value, lane);
}

// Over the lanes of a warp.
ASSAY_DEVICE std::int32_t warp_sum(std::int32_t value) {
  return __reduce_add_sync(kEveryLane, value);
}

// The lanes of a warp where it is true, as bits.
ASSAY_DEVICE std::uint32_t warp_mask(bool is_true) {
  return __ballot_sync(kEveryLane, is_true);
}

ASSAY_DEVICE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Four 8 x 8 matrices of bf16; lane i names row i % 8 of matrix i / 8, 16 bytes of shared memory.
ASSAY_DEVICE void load_matrices(std::uint32_t (&matrices)[4], const std::byte* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row))
               : "memory");
}

ASSAY_DEVICE void load_matrices_transposed(std::uint32_t (&matrices)[4], const std::byte* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row))
               : "memory");
}

// One tensor-core step m16n8k16: c += a b, bf16 into fp32.
ASSAY_DEVICE void multiply_add(float (&c)[4],
                               const std::uint32_t (&a)[4],
                               std::uint32_t b_low,
                               std::uint32_t b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

// Copies 16 bytes to shared memory past the L1, or writes zeros without reading.
ASSAY_DEVICE void copy_async(std::byte* target, const void* source, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(target)),
               "l"(source),
               "r"(is_there ? 16 : 0)
               : "memory");
}

ASSAY_DEVICE void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until at most kPending of the thread's newest groups of copies are on their way.
template <int kPending>
ASSAY_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Two values rounded as to_bf16() does, `low` in the low half.
ASSAY_DEVICE std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t packed = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

ASSAY_DEVICE float hardware_exp2(float x) {
  float y = 0;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace assay::kernels::attention

#endif
