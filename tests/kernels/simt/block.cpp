// The fortified longjmp refuses to leave a fiber's stack.
#undef _FORTIFY_SOURCE
#include "tests/kernels/simt/block.h"

#include "tests/kernels/simt/machine.h"

#include <csetjmp>
#include <memory>
#include <ucontext.h>

namespace assay::simt {
namespace {

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

}  // namespace

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

}  // namespace assay::simt
