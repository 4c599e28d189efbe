// What the verdict rule says of simulated experiments, as a table, and what one judgement costs.
#include "profiler/verdict.h"
#include "tests/profiler/scripted.h"
#include "tests/profiler/simulation.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>

namespace assay::profiler {
namespace {

constexpr int kExperiments = 1000;

void print_row(const char* schedule_name, v1::Schedule schedule, Noise noise, double ratio) {
  JudgeOptions options;
  options.schedule = schedule;
  const Tally tally = simulate(noise, ratio, kExperiments, options);
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

// At least `least` of `num` tries succeed, each with probability `p`.
double tail_of_binomial(int num, int least, double p) {
  double sum = 0;
  for (int k = least; k <= num; ++k) {
    sum += std::exp(std::lgamma(num + 1) - std::lgamma(k + 1) - std::lgamma(num - k + 1)) *
           std::pow(p, k) * std::pow(1 - p, num - k);
  }
  return sum;
}

// Of normal noise: a block's median of 20 calls strays by sqrt(pi / 2 / 20) of a call's, a round's
// d by sqrt(3 / 2) of that, and a claim at the last look takes 36 of 48 rounds beyond the least
// effect.
double expected_share(double noise, double change, double least_effect) {
  const double stray = noise * std::sqrt(std::numbers::pi / 2 / 20) * std::sqrt(1.5);
  const double beyond = (std::log1p(change) - std::log1p(least_effect)) / stray;
  return tail_of_binomial(48, 36, std::erfc(-beyond / std::numbers::sqrt2) / 2);
}

// Found: `slower` is said of a candidate that takes longer by `change`.
void print_power() {
  std::printf("\nOf %d experiments each, a floor of one control stored, share found:\n\n",
              kExperiments);
  std::printf(
      "| noise | least effect | stored floor | true change | found | expected at 48 rounds "
      "| same | undecided | wrong side | rounds |\n|---|---|---|---|---|---|---|---|---|---|"
      "\n");
  for (const auto& [noise, share] :
       {std::pair(Noise::kHalfPercent, 0.005), std::pair(Noise::kTwoPercent, 0.02)}) {
    const v1::NoiseFloor floor = simulated_floor(noise);
    for (const double least_effect : {0.0025, 0.01}) {
      for (const double change : {0.005, 0.01, 0.02, 0.05}) {
        JudgeOptions options;
        options.least_effect = least_effect;
        options.noise_floor = floor;
        const Tally tally = simulate(noise, 1 + change, kExperiments, options);
        const double bar = std::max(least_effect, floor.noise_floor());
        std::printf(
            "| %s | %.2f %% | %.2f %% | %.1f %% | %.1f %% | %.1f %% | %d | %d | %d | %.1f |\n",
            std::string(name_of(noise)).c_str(),
            least_effect * 100,
            floor.noise_floor() * 100,
            change * 100,
            100.0 * tally.num_slower / kExperiments,
            100 * expected_share(share, change, bar),
            tally.num_same,
            tally.num_undecided,
            tally.num_faster,
            static_cast<double>(tally.num_rounds) / kExperiments);
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
  assay::profiler::print_power();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
