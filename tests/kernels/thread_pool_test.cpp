#include "kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace assay::kernels {
namespace {

TEST(ThreadPool, DoesNothingForNoTasks) {
  ThreadPool pool;
  pool.for_each(4, 0, [](std::int64_t) { FAIL(); });
}

TEST(ThreadPool, RunsEachTaskOnceForAnyNumberOfThreads) {
  ThreadPool pool;
  // Growing and shrinking between runs wakes workers that slept through some.
  for (const int num_threads : {1, 4, 2, 3, 1, 5, 4, 2, 5}) {
    std::vector<std::atomic<int>> counts(100);
    pool.for_each(num_threads, std::ssize(counts), [&](std::int64_t index) {
      ++counts[static_cast<std::size_t>(index)];
    });
    for (const std::atomic<int>& count : counts) {
      ASSERT_EQ(count.load(), 1);
    }
  }
}

TEST(ThreadPool, ServesCallersOneAfterTheOther) {
  ThreadPool pool;
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int run = 0; run < 20; ++run) {
        pool.for_each(3, 10, [&](std::int64_t index) { sum += index; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(sum.load(), 4 * 20 * 45);
}

}  // namespace
}  // namespace assay::kernels
