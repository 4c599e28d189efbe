// What the verdict rule says of simulated experiments, as a table, and what one judgement costs.
#include "profiler/verdict.h"
#include "tests/profiler/scripted.h"
#include "tests/profiler/simulation.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <utility>

namespace assay::profiler {
namespace {

constexpr int kExperiments = 1000;

void print_row(const char* schedule_name, v1::Schedule schedule, Noise noise, double ratio) {
  const Tally tally = simulate(noise, ratio, kExperiments, schedule);
  std::printf("| %s | %s | %.2f | %d | %d | %d | %d | %d | %.1f |\n",
              schedule_name,
              std::string(name_of(noise)).c_str(),
              ratio,
              tally.num_faster,
              tally.num_slower,
              tally.num_same,
              tally.num_undecided,
              tally.num_two_modes,
              static_cast<double>(tally.num_rounds) / kExperiments);
}

void print_calibration() {
  std::printf("Of %d experiments each, 20 calls a block, least effect 1 %%:\n\n", kExperiments);
  std::printf(
      "| schedule | noise | B/A | faster | slower | same | undecided | of these two modes | rounds "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, schedule] :
       {std::pair("BAB", v1::BAB), std::pair("AB", v1::AB), std::pair("ABBA", v1::ABBA)}) {
    for (const Noise noise : kAllNoises) {
      for (const double ratio : {1.0, 0.97, 1.03}) {
        print_row(name, schedule, noise, ratio);
      }
    }
  }
}

void judge_rounds(benchmark::State& state) {
  v1::Configuration configuration = equal_arms();
  add_rounds(&configuration, static_cast<std::uint32_t>(state.range(0)), [](const Call& call) {
    const std::uint64_t noise = random_bits(1, call.round * 4 + call.leg, call.call) % 5'000;
    return 100'000 + static_cast<std::int64_t>(noise);
  });
  for (auto _ : state) {
    benchmark::DoNotOptimize(judge(configuration, {}));
  }
}

BENCHMARK(judge_rounds)->Arg(12)->Arg(24)->Arg(48)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay::profiler

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  assay::profiler::print_calibration();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
