// A SIMT machine for tests: runs the threads of one block as fibers on one host thread, each until
// its next collective, so that a kernel body runs without a GPU. What hardware leaves open is
// resolved against the kernel: shared memory starts as NaN, an asynchronous copy poisons its target
// at once and lands only at the wait that covers it, a warpgroup's steps read at their wait,
// threads run in an order drawn from a seed. An access outside dynamic shared memory, a collective
// that not all lanes reach, a barrier with mixed sizes and a wait without end stop the run with a
// message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace assay::simt {

inline constexpr int kWarpLanes = 32;

// One output of a tensor-core step: acc and 16 pairs of bf16.
using Step = float (*)(float acc, const std::uint16_t* a, const std::uint16_t* b);

struct Launch {
  std::int64_t num_blocks = 0;
  int num_threads = 0;
  int shared_bytes = 0;
  Step step = nullptr;
  std::uint64_t seed = 1;
};

// Runs `body` for every thread of every block, block after block. Empty, or what went wrong.
std::string run(const Launch& launch, const std::function<void()>& body);

// What kernel bodies reach through tests/kernels/simt/primitives.h; only inside run().
int thread_id();
int num_threads();
std::int64_t block_id();
std::byte* shared_memory();
void sync_block();
void sync_warp();
void barrier_sync(int barrier, int threads);
float shuffle_xor(float value, int mask);
std::int32_t shuffle_from(std::int32_t value, int lane);
void load_matrices(std::uint32_t (&matrices)[4], const std::byte* row, bool is_transposed);
void multiply_add(float (&c)[4],
                  const std::uint32_t (&a)[4],
                  std::uint32_t b_low,
                  std::uint32_t b_high);
void copy_async(std::byte* target, const void* source, bool is_there);
void commit_copies();
void wait_for_copies(int pending);

// And through tests/kernels/simt/warpgroup.h. Barriers of phases are known by their address.
void init_phases(const void* barrier, int arrivals);
void arrive(const void* barrier);
void expect_bytes(const void* barrier, int bytes);
void arrive_when_copied(const void* barrier);
void wait_for_phase(const void* barrier, int parity);
void copy_counted(const void* barrier, std::uint16_t* target, const std::uint16_t* source);
void issue_step(std::function<void()> step);
void commit_steps();
void wait_for_steps(int pending);

// Ends the run; it does not return.
void fail(const std::string& what);

}  // namespace assay::simt
