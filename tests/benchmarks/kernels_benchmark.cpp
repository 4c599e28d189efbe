// Each cpu variant against the baseline on one thread, by instruction set and format: the counter
// `to_baseline` is its time over one_cell's, `fma_per_s` the rate of the two products.
#include "kernels/operator.h"
#include "tests/kernels/cpu_run.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

namespace assay::kernels {
namespace {

constexpr std::int64_t kWidth = 4'096;
constexpr double kNumFma = static_cast<double>(kWidth) * 24 * 256 * 2;
constexpr int kBaselineCalls = 3;

const Operator& op() {
  return *find_operator("qsa_decode");
}

// The fastest of a few calls, in seconds.
double baseline_seconds(const LaunchParameters& parameters, CpuTensors* tensors) {
  double least = std::numeric_limits<double>::max();
  for (int call = 0; call < kBaselineCalls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(run_stages(op().cpu_variants.front().stages, parameters, tensors));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    least = std::min(least, elapsed.count());
  }
  return least;
}

void run(benchmark::State& state, const CpuVariant& row, std::string kv, std::string isa) {
  const std::vector<Setting> given = {{"threads", "1"}, {"isa", isa}};
  const LaunchParameters parameters = make_parameters(row.parameters, given);
  if (row.available != nullptr && !row.available(parameters).ok()) {
    state.SkipWithError("not available on this host");
    return;
  }
  CpuTensors tensors = make_tensors(
      op(), make_workload(op(), {{"kv", kv}, {"width", std::to_string(kWidth)}, {"cap", "4096"}}));
  const double baseline =
      baseline_seconds(make_parameters(op().cpu_variants.front().parameters, given), &tensors);

  double seconds = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(run_stages(row.stages, parameters, &tensors));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    seconds += elapsed.count();
  }
  const double per_call = seconds / static_cast<double>(state.iterations());
  state.counters["to_baseline"] = per_call / baseline;
  state.counters["fma_per_s"] = kNumFma / per_call;
}

void add_benchmarks() {
  for (const std::string isa : {"avx2", "portable"}) {
    for (const std::string kv : {"fp16", "int8", "q4_0", "k8v4"}) {
      for (const CpuVariant& row : op().cpu_variants) {
        const std::string name = "qsa_decode/" + isa + "/" + kv + "/" + std::string(row.name);
        benchmark::RegisterBenchmark(name.c_str(), [&row, kv, isa](benchmark::State& state) {
          run(state, row, kv, isa);
        })->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels

int main(int argc, char** argv) {
  assay::kernels::add_benchmarks();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
