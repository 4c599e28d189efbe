// Bytes a second of one thread: digests, equal tensors compared, and unwritten elements looked for.
#include "profiler/digest.h"
#include "profiler/drift.h"
#include "profiler/poison.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace assay::profiler {
namespace {

std::vector<std::byte> some_bytes(std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 167 + i / 251);
  }
  return bytes;
}

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

TensorLayout whole(const benchmark::State& state) {
  return whole_tensor("out", "f32", {state.range(0) / 4});
}

void digest_one_tensor(benchmark::State& state) {
  const auto bytes = some_bytes(state.range(0));
  const TensorLayout layout = whole(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(digest_tensor(layout, bytes.data()));
  }
  count_bytes(state);
}

// Live rows of 1 KiB with as much between them.
void digest_rows(benchmark::State& state) {
  const auto bytes = some_bytes(state.range(0) * 2);
  TensorLayout layout = whole_tensor("partials", "f32", {state.range(0) / 1024, 2, 256});
  layout.live.clear();
  for (std::int64_t row = 0; row < state.range(0) / 1024; ++row) {
    layout.live.push_back({row * 512, row * 512 + 256});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(digest_tensor(layout, bytes.data()));
  }
  count_bytes(state);
}

void compare_equal_tensors(benchmark::State& state) {
  const auto expected = some_bytes(state.range(0));
  const auto found = expected;
  const TensorLayout layout = whole(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_drift(layout, expected.data(), found.data()));
  }
  count_bytes(state);
}

void report_drift_everywhere(benchmark::State& state) {
  const auto expected = some_bytes(state.range(0));
  auto found = expected;
  for (std::size_t i = 0; i < found.size(); i += 4) {
    found[i] ^= std::byte{1};
  }
  const TensorLayout layout = whole(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_drift(layout, expected.data(), found.data()));
  }
  count_bytes(state);
}

void find_unwritten_in_written(benchmark::State& state) {
  const auto bytes = some_bytes(state.range(0));
  const auto again = bytes;
  const TensorLayout layout = whole(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_unwritten(layout, bytes.data(), again.data()));
  }
  count_bytes(state);
}

void count_nontrivial_elements(benchmark::State& state) {
  const auto bytes = some_bytes(state.range(0));
  const TensorLayout layout = whole(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(count_nontrivial(layout, bytes.data()));
  }
  count_bytes(state);
}

BENCHMARK(digest_one_tensor)->Arg(4 << 10)->Arg(1 << 20)->Arg(64 << 20);
BENCHMARK(digest_rows)->Arg(1 << 20);
BENCHMARK(compare_equal_tensors)->Arg(1 << 20);
BENCHMARK(report_drift_everywhere)->Arg(1 << 20);
BENCHMARK(find_unwritten_in_written)->Arg(1 << 20);
BENCHMARK(count_nontrivial_elements)->Arg(1 << 20);

}  // namespace
}  // namespace assay::profiler

BENCHMARK_MAIN();
