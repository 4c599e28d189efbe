// One block on the SIMT machine: its fibers, shared memory and barriers. For the machine's sources.
#pragma once

#include "tests/kernels/simt/block.h"
#include "tests/kernels/simt/collectives.h"
#include "tests/kernels/simt/fiber.h"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace assay::simt {

inline constexpr std::size_t kBandBytes = 4096;
inline constexpr std::size_t kSharedAlignment = 1024;
inline constexpr int kNumBarriers = 16;
inline constexpr std::byte kBand{0x7B};

struct NamedBarrier {
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

  void sync(int barrier, int threads) {
    NamedBarrier& b = barriers_[barrier];
    if (b.arrived == 0) {
      b.expected = threads;
    } else if (b.expected != threads) {
      fail("barrier " + std::to_string(barrier) + " is used with two sizes at once");
    }
    ++b.arrived;
    Fiber& fiber = here();
    fiber.state = State::kAtBarrier;
    fiber.barrier = barrier;
    if (b.arrived == b.expected) {
      b.arrived = 0;
      for (Fiber& other : fibers_) {
        if (other.state == State::kAtBarrier && other.barrier == barrier) {
          other.state = State::kReady;
        }
      }
    }
    yield();
  }

  void init_phases(const void* barrier, int arrivals) {
    if (!phases_.try_emplace(barrier, arrivals).second) {
      fail("a barrier is initialised twice");
    }
  }

  PhaseBarrier& phases(const void* barrier) {
    const auto found = phases_.find(barrier);
    if (found == phases_.end()) {
      fail("a barrier is used that was not initialised");
    }
    return found->second;
  }

  void wait_for_phase(PhaseBarrier& phases, int parity) {
    Fiber& fiber = here();
    fiber.phases = &phases;
    fiber.parity = parity;
    fiber.state = State::kAtPhase;
    yield();
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
    std::fill(std::begin(barriers_), std::end(barriers_), NamedBarrier{});
    phases_.clear();
    is_late_.assign(fibers_.size() / kWarpLanes, false);
    for (Fiber& fiber : fibers_) {
      fiber.state = State::kReady;
      fiber.is_started = false;
      fiber.copies = {};
      fiber.steps = {};
      if (fiber.stack == nullptr) {
        fiber.stack = std::make_unique<std::byte[]>(kStackBytes);
      }
    }
    while (error_.empty() && run_some_warp()) {
    }
    const auto is_any = [&](auto holds) { return std::ranges::any_of(fibers_, holds); };
    if (error_.empty() && is_any([](const Fiber& f) { return f.state == State::kAtPhase; })) {
      error_ = "threads wait for a phase that never ends" + where();
    }
    if (error_.empty() && is_any([](const Fiber& f) { return f.state != State::kDone; })) {
      error_ = "threads wait at a barrier or collective that the others never reach" + where();
    }
    if (error_.empty() &&
        std::ranges::any_of(phases_, [](const auto& p) { return !p.second.is_idle(); })) {
      error_ = "a block ends before its copies have landed" + where();
    }
    const auto bands =
        std::ranges::count(shared_, kBand) - std::count(base_, base_ + launch_.shared_bytes, kBand);
    if (error_.empty() && bands + launch_.shared_bytes != std::ssize(shared_)) {
      error_ = "a write outside shared memory" + where();
    }
  }

  // A drawn warp that can go on does so for a drawn number of collectives; false if none can.
  bool run_some_warp() { return run_some_warp(false) || run_some_warp(true); }

  bool run_some_warp(bool has_late) {
    const int num_warps = launch_.num_threads / kWarpLanes;
    const int first = static_cast<int>(random_() % static_cast<unsigned>(num_warps));
    for (int i = 0; i < num_warps; ++i) {
      const int warp = (first + i) % num_warps;
      const auto place = static_cast<std::size_t>(warp);
      auto quota = 1 + random_() % 64;
      if ((is_late_[place] && !has_late) || !run_lanes(warp)) {
        continue;
      }
      while (--quota > 0 && !gives_way_ && run_lanes(warp)) {
      }
      is_late_[place] = gives_way_ && random_() % 2 == 0;
      return true;
    }
    return false;
  }

  // Every ready lane up to its next collective, which is carried out if all lanes have reached it.
  bool run_lanes(int warp) {
    bool went_on = false;
    gives_way_ = false;
    const int begin = warp * kWarpLanes;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(begin + lane)];
      if (fiber.state == State::kAtPhase && fiber.phases->has_ended(fiber.parity)) {
        fiber.state = State::kReady;
      }
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
    // Steps read late: others go on before, in half of all cases until none can.
    gives_way_ = lanes[0]->op == Op::kWaitForSteps;
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
  NamedBarrier barriers_[kNumBarriers];
  std::map<const void*, PhaseBarrier> phases_;
  bool gives_way_ = false;     // the warp that ran
  std::vector<bool> is_late_;  // a warp: goes on when no other can
  std::string error_;
  std::int64_t block_ = 0;
  int current_ = 0;
  jmp_buf scheduler_ = {};
};

// The machine that runs, for the primitives and a fiber's entry.
inline Block* running = nullptr;

}  // namespace assay::simt
