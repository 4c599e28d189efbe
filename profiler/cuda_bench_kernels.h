// Kernels that reach a device's ceilings, for CudaDevice::bench().
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace assay::profiler {

// First start and last end of a kernel's blocks, by the device's global timer in nanoseconds.
// `first_ns` begins as all ones, `last_ns` as 0.
struct KernelStamp {
  unsigned long long first_ns;
  unsigned long long last_ns;
};

cudaError_t launch_empty(cudaStream_t stream);

// `num_bytes` is a multiple of 16.
cudaError_t launch_copy(void* to,
                        const void* from,
                        std::size_t num_bytes,
                        int num_multiprocessors,
                        cudaStream_t stream);

// `sink` is one float that is never written in practice; the operations of the launch are given
// back. Fused multiply-adds of independent chains on every core.
cudaError_t launch_fp32(
    float* sink, int num_rounds, int num_multiprocessors, double* num_flops, cudaStream_t stream);

// bf16 products summed in fp32 by tensor cores: mma.sync, or wgmma where the device is of compute
// capability 9.0. cudaErrorNotSupported below 8.0.
cudaError_t launch_bf16(float* sink,
                        int num_rounds,
                        int num_multiprocessors,
                        int compute_capability,
                        double* num_flops,
                        cudaStream_t stream);

// Integer work of a known number of rounds on every multiprocessor, and when it ran.
cudaError_t launch_stamped(KernelStamp* stamp,
                           int num_rounds,
                           int num_multiprocessors,
                           cudaStream_t stream);

namespace bench_detail {

// What launch_bf16 calls on compute capability 9.0.
cudaError_t launch_bf16_warpgroup(
    float* sink, int num_rounds, int num_multiprocessors, double* num_flops, cudaStream_t stream);

}  // namespace bench_detail

}  // namespace assay::profiler
