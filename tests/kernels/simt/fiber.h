// A thread of a block as a fiber of the SIMT machine.
#pragma once

#include "tests/kernels/simt/collectives.h"
#include "tests/kernels/simt/copy_queue.h"

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <ucontext.h>

namespace assay::simt {

inline constexpr std::size_t kStackBytes = 128 * 1024;

enum class State { kReady, kInCollective, kAtBarrier, kDone };

struct Fiber {
  State state = State::kDone;
  bool is_started = false;
  int barrier = 0;
  Request* request = nullptr;
  CopyQueue copies;
  std::unique_ptr<std::byte[]> stack;
  ucontext_t entry = {};
  jmp_buf place = {};
};

}  // namespace assay::simt
