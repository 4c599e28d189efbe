// From submit to verdict of a trivial experiment on a warm runner: what the daemon adds to the
// runner's own timed work, which the fake runner makes up and does not spend.
#include "tests/server/fixture.h"

#include <benchmark/benchmark.h>

#include <string>

namespace assay::server {
namespace {

void submit_to_verdict(benchmark::State& state) {
  Daemon daemon;
  daemon.run(compare_request("warm"));
  std::int64_t number = 0;
  for (auto _ : state) {
    const v1::Experiment experiment = daemon.run(compare_request(std::to_string(++number)));
    if (experiment.state() != v1::DONE) {
      state.SkipWithError("the experiment was not done");
      break;
    }
  }
}

BENCHMARK(submit_to_verdict)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(5)
    ->Repetitions(21)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace assay::server

BENCHMARK_MAIN();
