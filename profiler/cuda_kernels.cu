#include "profiler/cuda_kernels.h"

namespace assay::profiler {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;
constexpr int kUnroll = 4;

__device__ std::uint32_t mix(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15ULL;
  value ^= value >> 29;
  value *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(value >> 32);
}

__global__ void flush_kernel(uint4* memory, std::size_t num_vectors, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t index = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; index < num_vectors;
       index += stride) {
    const std::uint32_t value = mix(seed + index);
    memory[index] = make_uint4(value, ~value, value * 3, value ^ 0x5BD1E995U);
  }
}

// Several independent 16-byte loads in flight for each thread; those that stream leave the caches
// first.
template <bool kIsStreamed>
__global__ void read_kernel(const uint4* memory, std::size_t num_vectors, std::uint32_t* sink) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::uint32_t folded = 0;
  std::size_t index = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; index + (kUnroll - 1) * stride < num_vectors; index += kUnroll * stride) {
    uint4 loaded[kUnroll];
#pragma unroll
    for (int place = 0; place < kUnroll; ++place) {
      const uint4* from = memory + index + place * stride;
      loaded[place] = kIsStreamed ? __ldcs(from) : __ldcg(from);
    }
#pragma unroll
    for (int place = 0; place < kUnroll; ++place) {
      folded ^= loaded[place].x ^ loaded[place].y ^ loaded[place].z ^ loaded[place].w;
    }
  }
  for (; index < num_vectors; index += stride) {
    const uint4 loaded = memory[index];
    folded ^= loaded.x ^ loaded.y ^ loaded.z ^ loaded.w;
  }
  // The value is as good as never met, but the compiler cannot know.
  if (folded == 0x2545F491U) {
    *sink = folded;
  }
}

__global__ void spin_kernel(std::uint64_t duration_ns) {
  std::uint64_t start_ns;
  std::uint64_t now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start_ns));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - start_ns < duration_ns);
}

}  // namespace

cudaError_t launch_flush(void* memory,
                         std::size_t num_bytes,
                         std::uint64_t seed,
                         cudaStream_t stream) {
  constexpr unsigned kBlocks = 1024;
  flush_kernel<<<kBlocks, kThreads, 0, stream>>>(
      static_cast<uint4*>(memory), num_bytes / sizeof(uint4), seed);
  return cudaGetLastError();
}

cudaError_t launch_read(const void* memory,
                        std::size_t num_bytes,
                        std::uint32_t* sink,
                        int num_multiprocessors,
                        cudaStream_t stream) {
  const auto num_blocks = static_cast<unsigned>(num_multiprocessors * kBlocksPerMultiprocessor);
  read_kernel<true><<<num_blocks, kThreads, 0, stream>>>(
      static_cast<const uint4*>(memory), num_bytes / sizeof(uint4), sink);
  return cudaGetLastError();
}

cudaError_t launch_cached_read(const void* memory,
                               std::size_t num_bytes,
                               std::uint32_t* sink,
                               int num_multiprocessors,
                               cudaStream_t stream) {
  const auto num_blocks = static_cast<unsigned>(num_multiprocessors * kBlocksPerMultiprocessor);
  read_kernel<false><<<num_blocks, kThreads, 0, stream>>>(
      static_cast<const uint4*>(memory), num_bytes / sizeof(uint4), sink);
  return cudaGetLastError();
}

cudaError_t launch_spin(std::int64_t duration_ns, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(static_cast<std::uint64_t>(duration_ns));
  return cudaGetLastError();
}

}  // namespace assay::profiler
