// The fortified longjmp refuses to leave a fiber's stack.
#undef _FORTIFY_SOURCE
#include "tests/kernels/simt/block.h"

#include "tests/kernels/simt/collectives.h"
#include "tests/kernels/simt/fiber.h"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

namespace assay::simt {
namespace {

constexpr std::size_t kBandBytes = 4096;
constexpr std::size_t kSharedAlignment = 128;
constexpr int kNumBarriers = 16;
constexpr std::byte kBand{0x7B};

struct Barrier {
  int arrived = 0;
  int expected = 0;
};

class Block {
 public:
  Block(const Launch& launch, const std::function<void()>& body)
      : launch_(launch),
        body_(body),
        random_(launch.seed),
        fibers_(static_cast<std::size_t>(launch.num_threads)) {
    shared_.resize(2 * kBandBytes + static_cast<std::size_t>(launch.shared_bytes) +
                   kSharedAlignment);
    const auto address = std::bit_cast<std::uintptr_t>(shared_.data()) + kBandBytes;
    base_ = shared_.data() + kBandBytes +
            (kSharedAlignment - address % kSharedAlignment) % kSharedAlignment;
  }

  std::string run() {
    for (block_ = 0; block_ < launch_.num_blocks && error_.empty(); ++block_) {
      run_block();
    }
    return error_;
  }

  int current() const { return current_; }

  int num_threads() const { return launch_.num_threads; }

  std::int64_t block() const { return block_; }

  std::byte* shared() { return base_; }

  // Ends the run: the fiber that called never goes on.
  void fail(const std::string& what) {
    if (error_.empty()) {
      error_ =
          what + " (block " + std::to_string(block_) + ", thread " + std::to_string(current_) + ")";
    }
    yield();
  }

  bool is_shared(const std::byte* bytes) const {
    return bytes >= base_ && bytes + kCopyBytes <= base_ + launch_.shared_bytes &&
           (bytes - base_) % kCopyBytes == 0;
  }

  void collective(Request& request) {
    Fiber& fiber = here();
    fiber.request = &request;
    fiber.state = State::kInCollective;
    yield();
  }

  void arrive(int barrier, int threads, bool waits) {
    Barrier& b = barriers_[barrier];
    if (b.arrived == 0) {
      b.expected = threads;
    } else if (b.expected != threads) {
      fail("barrier " + std::to_string(barrier) + " is used with two sizes at once");
    }
    ++b.arrived;
    Fiber& fiber = here();
    if (waits) {
      fiber.state = State::kAtBarrier;
      fiber.barrier = barrier;
    }
    if (b.arrived == b.expected) {
      b.arrived = 0;
      for (Fiber& other : fibers_) {
        if (other.state == State::kAtBarrier && other.barrier == barrier) {
          other.state = State::kReady;
        }
      }
    }
    if (waits) {
      yield();
    }
  }

  Fiber& here() { return fibers_[static_cast<std::size_t>(current_)]; }

  // The entry of a fiber.
  void start() {
    body_();
    here().state = State::kDone;
    yield();
  }

 private:
  std::string where() const { return " (block " + std::to_string(block_) + ")"; }

  void run_block() {
    std::fill(shared_.begin(), shared_.end(), kBand);
    std::fill(base_, base_ + launch_.shared_bytes, kPoison);
    std::fill(std::begin(barriers_), std::end(barriers_), Barrier{});
    for (Fiber& fiber : fibers_) {
      fiber.state = State::kReady;
      fiber.is_started = false;
      fiber.copies = {};
      if (fiber.stack == nullptr) {
        fiber.stack = std::make_unique<std::byte[]>(kStackBytes);
      }
    }
    while (error_.empty() && run_some_warp()) {
    }
    if (error_.empty() &&
        std::ranges::any_of(fibers_, [](const Fiber& f) { return f.state != State::kDone; })) {
      error_ = "threads wait at a barrier or collective that the others never reach" + where();
    }
    const auto bands =
        std::ranges::count(shared_, kBand) - std::count(base_, base_ + launch_.shared_bytes, kBand);
    if (error_.empty() && bands + launch_.shared_bytes != std::ssize(shared_)) {
      error_ = "a write outside shared memory" + where();
    }
  }

  // A drawn warp that can go on does so for a drawn number of collectives; false if none can.
  bool run_some_warp() {
    const int num_warps = launch_.num_threads / kWarpLanes;
    const int first = static_cast<int>(random_() % static_cast<unsigned>(num_warps));
    for (int i = 0; i < num_warps; ++i) {
      const int warp = (first + i) % num_warps;
      auto quota = 1 + random_() % 64;
      if (!run_lanes(warp)) {
        continue;
      }
      while (--quota > 0 && run_lanes(warp)) {
      }
      return true;
    }
    return false;
  }

  // Every ready lane up to its next collective, which is carried out if all lanes have reached it.
  bool run_lanes(int warp) {
    bool went_on = false;
    const int begin = warp * kWarpLanes;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(begin + lane)];
      if (fiber.state == State::kReady && error_.empty()) {
        went_on = true;
        resume(begin + lane);
      }
    }
    return error_.empty() && (carry_out(begin) || went_on);
  }

  bool carry_out(int begin) {
    Request* lanes[kWarpLanes];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const Fiber& fiber = fibers_[static_cast<std::size_t>(begin + lane)];
      if (fiber.state != State::kInCollective) {
        return false;
      }
      lanes[lane] = fiber.request;
      if (lanes[lane]->op != lanes[0]->op) {
        error_ = "lanes of a warp meet in different collectives" + where();
        return false;
      }
    }
    carry_out_collective(lanes, launch_.step);
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      fibers_[static_cast<std::size_t>(begin + lane)].state = State::kReady;
    }
    return true;
  }

  void resume(int thread);
  void yield();

  const Launch& launch_;
  const std::function<void()>& body_;
  std::mt19937_64 random_;
  std::vector<Fiber> fibers_;
  std::vector<std::byte> shared_;
  std::byte* base_ = nullptr;
  Barrier barriers_[kNumBarriers];
  std::string error_;
  std::int64_t block_ = 0;
  int current_ = 0;
  jmp_buf scheduler_ = {};
};

// The machine that runs, for the primitives and a fiber's entry.
Block* running = nullptr;

void enter_fiber() {
  running->start();
}

void jump(jmp_buf& from, jmp_buf& to) {
  if (_setjmp(from) == 0) {
    _longjmp(to, 1);
  }
}

void enter(jmp_buf& from, const ucontext_t& entry) {
  if (_setjmp(from) == 0) {
    setcontext(&entry);
  }
}

void Block::resume(int thread) {
  current_ = thread;
  Fiber& fiber = here();
  if (fiber.is_started) {
    jump(scheduler_, fiber.place);
    return;
  }
  fiber.is_started = true;
  getcontext(&fiber.entry);
  fiber.entry.uc_stack.ss_sp = fiber.stack.get();
  fiber.entry.uc_stack.ss_size = kStackBytes;
  fiber.entry.uc_link = nullptr;
  makecontext(&fiber.entry, enter_fiber, 0);
  enter(scheduler_, fiber.entry);
}

void Block::yield() {
  jump(here().place, scheduler_);
}

}  // namespace

std::string run(const Launch& launch, const std::function<void()>& body) {
  if (launch.num_threads <= 0 || launch.num_threads % kWarpLanes != 0) {
    return "num_threads: must be a positive multiple of 32";
  }
  Block block(launch, body);
  running = &block;
  std::string error = block.run();
  running = nullptr;
  return error;
}

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
  running->arrive(0, running->num_threads(), true);
}

void sync_warp() {
  Request request{.op = Op::kSyncWarp};
  running->collective(request);
}

void barrier_arrive(int barrier, int threads) {
  running->arrive(barrier, threads, false);
}

void barrier_sync(int barrier, int threads) {
  running->arrive(barrier, threads, true);
}

float shuffle_xor(float value, int mask) {
  Request request{.op = Op::kShuffle, .mask = mask, .value = value};
  running->collective(request);
  return request.value;
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

}  // namespace assay::simt
