// A thread of a block as a fiber of the SIMT machine.
#pragma once

#include "tests/kernels/simt/collectives.h"
#include "tests/kernels/simt/copy_queue.h"
#include "tests/kernels/simt/phase_barrier.h"

#include <csetjmp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace assay::simt {

inline constexpr std::size_t kStackBytes = 128 * 1024;

enum class State { kReady, kInCollective, kAtBarrier, kAtPhase, kDone };

// What the tensor cores were asked for, in groups: it runs at the wait that covers it.
struct StepQueue {
  std::vector<std::function<void()>> uncommitted;
  std::deque<std::vector<std::function<void()>>> groups;
};

struct Fiber {
  State state = State::kDone;
  bool is_started = false;
  int barrier = 0;
  PhaseBarrier* phases = nullptr;  // of State::kAtPhase
  int parity = 0;
  Request* request = nullptr;
  CopyQueue copies;
  StepQueue steps;
  std::unique_ptr<std::byte[]> stack;
  ucontext_t entry = {};
  jmp_buf place = {};
};

}  // namespace assay::simt
