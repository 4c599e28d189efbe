// The device half's own kernels: flushing the L2, measuring the read ceiling, and a planted hang.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace assay::profiler {

// Overwrites `num_bytes` (a multiple of 16) with bytes that depend on `seed`.
cudaError_t launch_flush(void* memory,
                         std::size_t num_bytes,
                         std::uint64_t seed,
                         cudaStream_t stream);

// Reads `num_bytes` (a multiple of 16); `sink` is one word that is never written in practice.
cudaError_t launch_read(const void* memory,
                        std::size_t num_bytes,
                        std::uint32_t* sink,
                        int num_multiprocessors,
                        cudaStream_t stream);

// As launch_read(), through the caches, so that everything else leaves them.
cudaError_t launch_cached_read(const void* memory,
                               std::size_t num_bytes,
                               std::uint32_t* sink,
                               int num_multiprocessors,
                               cudaStream_t stream);

// Spins for that long by the device's global timer.
cudaError_t launch_spin(std::int64_t duration_ns, cudaStream_t stream);

}  // namespace assay::profiler
