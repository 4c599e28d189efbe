#include "profiler/cpu_bench.h"

#include "kernels/thread_pool.h"
#include "profiler/ceiling.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>

namespace assay::profiler {
namespace {

constexpr int kPasses = 7;
constexpr int kLaunches = 1'000;

// The least time of a pass.
template <class Pass>
std::int64_t least_ns(int num_passes, const Pass& pass) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < num_passes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pass();
    least = std::min<std::int64_t>(
        least, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  }
  return std::max<std::int64_t>(least, 1);
}

double per_second(std::int64_t amount, std::int64_t duration_ns) {
  return static_cast<double>(amount) / static_cast<double>(duration_ns) * 1e9;
}

}  // namespace

std::vector<v1::Ceiling> bench_cpu(std::int64_t num_bytes) {
  kernels::ThreadPool& threads = kernels::shared_threads();
  const int num_threads = static_cast<int>(kernels::available_processors().size());
  const std::size_t share = static_cast<std::size_t>(num_bytes / num_threads) / 64 * 64;
  const std::size_t num_words = share * static_cast<std::size_t>(num_threads) / 8;
  std::vector<std::uint64_t> from(num_words, 0x9E3779B97F4A7C15U);
  std::vector<std::uint64_t> to(num_words, 1);
  std::atomic<std::uint64_t> sink = 0;

  const std::int64_t read_ns = least_ns(kPasses, [&] {
    threads.for_each(num_threads, num_threads, [&](std::int64_t thread) {
      const std::uint64_t* words = from.data() + static_cast<std::size_t>(thread) * share / 8;
      std::array<std::uint64_t, 8> folded = {};
      for (std::size_t i = 0; i < share / 8; i += folded.size()) {
        for (std::size_t lane = 0; lane < folded.size(); ++lane) {
          folded[lane] ^= words[i + lane];
        }
      }
      for (const std::uint64_t each : folded) {
        sink.fetch_xor(each, std::memory_order_relaxed);
      }
    });
  });
  const std::int64_t copy_ns = least_ns(kPasses, [&] {
    threads.for_each(num_threads, num_threads, [&](std::int64_t thread) {
      const std::size_t offset = static_cast<std::size_t>(thread) * share / 8;
      std::memcpy(to.data() + offset, from.data() + offset, share);
    });
  });
  const std::int64_t launch_ns =
      least_ns(kLaunches, [&] { threads.for_each(num_threads, num_threads, [](std::int64_t) {}); });

  const auto moved = static_cast<std::int64_t>(num_words * 8);
  return {make_ceiling(kReadCeiling, per_second(moved, read_ns), "bytes/s", "reading memory"),
          make_ceiling(
              kCopyCeiling, per_second(2 * moved, copy_ns), "bytes/s", "copying, read and written"),
          make_ceiling(kLaunchCeiling,
                       static_cast<double>(launch_ns),
                       "ns",
                       "a task that does nothing on every processor")};
}

}  // namespace assay::profiler
