// Threads that outlive a call, each pinned to a processor, so that a timed call never pays for
// starting one. The caller works too; one run at a time, others wait their turn. Tasks are taken in
// order of their number by whichever thread is free: no result may depend on who takes which.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::kernels {

inline constexpr int kMostThreads = 1'024;

// Processors that this process may run on, as found when first asked.
const std::vector<int>& available_processors();

class ThreadPool {
 public:
  using Task = void (*)(const void* context, std::int64_t index);

  ThreadPool() = default;
  ~ThreadPool();
  // Threads hold its address.
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls task(context, i) for each i in [0, num_tasks) on `num_threads` threads, the caller
  // included, and returns when all are done. A task must not call run().
  void run(int num_threads, std::int64_t num_tasks, Task task, const void* context);

  template <class Function>
  void for_each(int num_threads, std::int64_t num_tasks, const Function& function) {
    run(
        num_threads,
        num_tasks,
        [](const void* context, std::int64_t index) {
          (*static_cast<const Function*>(context))(index);
        },
        &function);
  }

 private:
  void work(int worker, std::uint64_t seen);
  void take_tasks();

  std::mutex runs_;  // held for a whole run
  std::vector<std::thread> workers_;
  Task task_ = nullptr;
  const void* context_ = nullptr;
  std::int64_t num_tasks_ = 0;
  std::atomic<std::int64_t> next_task_ = 0;
  std::atomic<int> num_working_ = 0;  // workers of this run that are not done
  // The run's number, and in the low bits how many workers take part: read as one, since a worker
  // that slept through a run must not mix two of them.
  std::atomic<std::uint64_t> run_ = 0;
  std::atomic<bool> stopping_ = false;
};

// The one pool of the process: cpu kernels share it, as they share the processors.
ThreadPool& shared_threads();

}  // namespace assay::kernels
