#include "kernels/thread_pool.h"

#include <algorithm>
#include <sched.h>

namespace assay::kernels {
namespace {

constexpr int kSpins = 500;
constexpr std::uint64_t kNextRun = std::uint64_t{1} << 16;
constexpr std::uint64_t kHelpersMask = kNextRun - 1;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Spins for a moment, since runs follow each other closely, then sleeps until the value changes.
template <class Value>
void wait_while(const std::atomic<Value>& value, Value old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (value.load(std::memory_order_acquire) != old) {
      return;
    }
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

// The first processor is left to the caller. Being refused costs steadiness only.
void pin_worker(int worker) {
  const std::vector<int>& processors = available_processors();
  const auto place = static_cast<std::size_t>(worker + 1) % processors.size();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processors[place]), &set);
  static_cast<void>(sched_setaffinity(0, sizeof(set), &set));
}

}  // namespace

const std::vector<int>& available_processors() {
  static const std::vector<int> processors = [] {
    std::vector<int> found;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
      for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) {
          found.push_back(processor);
        }
      }
    }
    if (found.empty()) {
      found.push_back(0);
    }
    return found;
  }();
  return processors;
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  run_.store((run_.load() & ~kHelpersMask) + kNextRun);
  run_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::run(int num_threads, std::int64_t num_tasks, Task task, const void* context) {
  const std::lock_guard lock(runs_);
  task_ = task;
  context_ = context;
  num_tasks_ = num_tasks;
  next_task_.store(0, std::memory_order_relaxed);

  const int num_helpers =
      static_cast<int>(std::min<std::int64_t>({num_threads, num_tasks, kMostThreads})) - 1;
  if (num_helpers <= 0) {
    take_tasks();
    return;
  }
  const std::uint64_t previous = run_.load(std::memory_order_relaxed);
  while (std::ssize(workers_) < num_helpers) {
    const int worker = static_cast<int>(workers_.size());
    workers_.emplace_back([this, worker, previous] { work(worker, previous); });
  }
  num_working_.store(num_helpers, std::memory_order_relaxed);
  // The number publishes all of the above, so it comes last.
  run_.store((previous & ~kHelpersMask) + kNextRun + static_cast<std::uint64_t>(num_helpers),
             std::memory_order_release);
  run_.notify_all();

  take_tasks();
  for (int left = num_working_.load(std::memory_order_acquire); left != 0;
       left = num_working_.load(std::memory_order_acquire)) {
    wait_while(num_working_, left);
  }
}

void ThreadPool::take_tasks() {
  for (std::int64_t index = next_task_.fetch_add(1, std::memory_order_relaxed); index < num_tasks_;
       index = next_task_.fetch_add(1, std::memory_order_relaxed)) {
    task_(context_, index);
  }
}

void ThreadPool::work(int worker, std::uint64_t seen) {
  pin_worker(worker);
  for (;;) {
    wait_while(run_, seen);
    seen = run_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) {
      return;
    }
    if (static_cast<std::uint64_t>(worker) >= (seen & kHelpersMask)) {
      continue;
    }
    take_tasks();
    // The last one out wakes the caller.
    num_working_.fetch_sub(1, std::memory_order_acq_rel);
    num_working_.notify_all();
  }
}

ThreadPool& shared_threads() {
  static ThreadPool pool;
  return pool;
}

}  // namespace assay::kernels
