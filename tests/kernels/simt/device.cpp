// What kernel bodies reach of the SIMT machine.
#include "tests/kernels/simt/block.h"
#include "tests/kernels/simt/machine.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace assay::simt {

int thread_id() {
  return running->current();
}

int num_threads() {
  return running->num_threads();
}

std::int64_t block_id() {
  return running->block();
}

std::byte* shared_memory() {
  return running->shared();
}

void sync_block() {
  running->sync(0, running->num_threads());
}

void sync_warp() {
  Request request{.op = Op::kSyncWarp};
  running->collective(request);
}

void barrier_sync(int barrier, int threads) {
  running->sync(barrier, threads);
}

float shuffle_xor(float value, int mask) {
  const int source = thread_id() % kWarpLanes ^ mask;
  Request request{
      .op = Op::kShuffle, .source = source, .value = std::bit_cast<std::uint32_t>(value)};
  running->collective(request);
  return std::bit_cast<float>(request.value);
}

std::int32_t shuffle_from(std::int32_t value, int lane) {
  // Two's complement: below 0 too.
  Request request{.op = Op::kShuffle,
                  .source = lane & (kWarpLanes - 1),
                  .value = static_cast<std::uint32_t>(value)};
  running->collective(request);
  return static_cast<std::int32_t>(request.value);
}

void load_matrices(std::uint32_t (&matrices)[4], const std::byte* row, bool is_transposed) {
  if (!running->is_shared(row)) {
    running->fail("load_matrices: a row outside shared memory or not on 16 bytes");
  }
  Request request{.op = Op::kLoadMatrices, .is_transposed = is_transposed};
  request.row = row;
  request.matrices = matrices;
  running->collective(request);
}

void multiply_add(float (&c)[4],
                  const std::uint32_t (&a)[4],
                  std::uint32_t b_low,
                  std::uint32_t b_high) {
  Request request{.op = Op::kMultiplyAdd};
  request.c = c;
  request.a = a;
  request.b[0] = b_low;
  request.b[1] = b_high;
  running->collective(request);
}

void copy_async(std::byte* target, const void* source, bool is_there) {
  if (!running->is_shared(target)) {
    running->fail("copy_async: a target outside shared memory or not on 16 bytes");
  }
  if (std::bit_cast<std::uintptr_t>(source) % kCopyBytes != 0) {
    running->fail("copy_async: a source that is not on 16 bytes");
  }
  running->here().copies.issue({target, source, is_there});
}

void commit_copies() {
  running->here().copies.commit();
}

void wait_for_copies(int pending) {
  running->here().copies.wait(pending);
}

void init_phases(const void* barrier, int arrivals) {
  running->init_phases(barrier, arrivals);
}

void arrive(const void* barrier) {
  if (!running->phases(barrier).arrive()) {
    running->fail("more threads arrive than a phase counts");
  }
}

void expect_bytes(const void* barrier, int bytes) {
  running->phases(barrier).expect(bytes);
}

void arrive_when_copied(const void* barrier) {
  running->phases(barrier).arrive_behind(running->here().copies.take());
}

void wait_for_phase(const void* barrier, int parity) {
  running->wait_for_phase(running->phases(barrier), parity);
}

void copy_counted(const void* barrier, std::uint16_t* target, const std::uint16_t* source) {
  auto* bytes = reinterpret_cast<std::byte*>(target);
  if (!running->is_shared(bytes)) {
    running->fail("copy_box: a target outside shared memory or not on 16 bytes");
  }
  if (std::bit_cast<std::uintptr_t>(source) % kCopyBytes != 0) {
    running->fail("copy_box: a source that is not on 16 bytes");
  }
  running->phases(barrier).copy({bytes, source, true});
}

void issue_step(std::function<void()> step) {
  running->here().steps.uncommitted.push_back(std::move(step));
}

void commit_steps() {
  StepQueue& steps = running->here().steps;
  steps.groups.push_back(std::exchange(steps.uncommitted, {}));
}

void wait_for_steps(int pending) {
  Request request{.op = Op::kWaitForSteps};
  running->collective(request);
  StepQueue& steps = running->here().steps;
  while (steps.groups.size() > static_cast<std::size_t>(pending)) {
    for (const std::function<void()>& step : steps.groups.front()) {
      step();
    }
    steps.groups.pop_front();
  }
}

void fail(const std::string& what) {
  running->fail(what);
}

}  // namespace assay::simt
