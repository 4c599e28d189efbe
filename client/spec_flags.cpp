#include "client/spec_options.h"
#include "client/validators.h"

namespace assay::client {
namespace {

// One value each time it is given: never the words that follow.
CLI::Option* repeated(CLI::App& command,
                      const std::string& name,
                      std::vector<std::string>& values,
                      const std::string& help) {
  return command.add_option(name, values, help)->allow_extra_args(false);
}

}  // namespace

void add_request_options(CLI::App& command, SpecOptions& options) {
  command.add_option("--device", options.device, "see `assay devices`; the first GPU, else cpu");
  command.add_option("--deadline", options.deadline, "of one request to the runner, as in 120s");
  add_context_options(command, options.context);
  command.add_option(
      "--request-id", options.request_id, "the same id and request give the same experiment");
  command.add_flag("--detach", options.detach, "do not wait for the result");
}

void add_common_options(CLI::App& command, SpecOptions& options, bool needs_operator) {
  command.add_option("operator", options.operator_name, "see `assay operators`")
      ->required(needs_operator);
  command.add_option("--seed", options.seed, "of the inputs and of every random choice")
      ->check(at_least(0));
  add_request_options(command, options);
}

void add_source_option(CLI::App& command, SpecOptions& options) {
  command.add_option("--spec",
                     options.source,
                     "kernels of your own instead of an operator: a specification as JSON, or a T1 "
                     "file");
}

void add_timing_options(CLI::App& command, SpecOptions& options) {
  repeated(command,
           "-a,--axis",
           options.axes,
           "NAME=VALUE, NAME=[V,V], NAME=[FIRST:LAST], NAME=[FIRST:LAST:STEP] or "
           "NAME[pow2]=[FIRST:LAST]; every value is combined with every other");
  repeated(command, "--workload", options.workloads, "a named workload; axes override its values");
  command.add_option("--cache", options.cache, "hot or cold; GPUs default to cold, cpu to hot");
  command.add_option("--launch-mode",
                     options.launch_mode,
                     "stream, or graph: many calls captured, timed as served; GPUs only");
  command.add_option("--calls", options.num_calls, "calls a block; 0: as the kernel's length asks")
      ->check(at_least(0));
  command.add_option("--rounds", options.max_rounds, "at most so many rounds; 0: 48")
      ->check(at_least(0));
  command.add_option("--timing",
                     options.timing,
                     "activity or events on GPUs, clock on cpu; the device's own when left out");
  repeated(command,
           "--counters",
           options.counters,
           "hardware counters, in a pass of their own: dram, l2, tensor, occupancy or names of "
           "metrics, separated by commas")
      ->delimiter(',');
  command.add_option("--admission",
                     options.admission,
                     "wait at most so long for a stable clock, as in 10s; 2s when left out");
}

void add_measure_options(CLI::App& command, SpecOptions& options) {
  add_timing_options(command, options);
  command.add_option("--budget", options.budget, "timed work of one workload, as in 60s");
}

void add_sweep_options(CLI::App& command, SpecOptions& options) {
  add_timing_options(command, options);
  repeated(command,
           "--variant",
           options.candidates,
           "VARIANT or VARIANT:NAME=VALUE,... whose other launch parameters are walked; left out: "
           "the first that has those of -a");
  command.add_option("--baseline",
                     options.baseline,
                     "what bits are held against first; the operator's first variant");
  command.add_option(
      "--least-effect", options.least_effect, "the smallest difference that counts, as in 1%");
  command.add_option("--budget",
                     options.sweep_budget,
                     "of each workload: running time as in 60s, or a number of configurations");
  command.add_option("--strategy", options.strategy, "exhaustive, genetic or random");
  command.add_option("--objective", options.objective, "median; with --replay also mean or time");
  command.add_option("--drop-above",
                     options.drop_above,
                     "gives up what is this much slower than the best so far in each of the first "
                     "rounds, as in 5%");
}

void add_compare_options(CLI::App& command, SpecOptions& options) {
  command.add_option(
      "--baseline", options.baseline, "VARIANT or VARIANT:NAME=VALUE,...; the operator's first");
  repeated(command,
           "--candidate",
           options.candidates,
           "as --baseline; may be repeated; none: the baseline itself, as a control");
  command.add_option("--schedule", options.schedule, "bab, ab or abba")->capture_default_str();
  command.add_option(
      "--least-effect", options.least_effect, "the smallest difference that counts, as in 1%");
  command.add_option("--interval-width",
                     options.interval_width,
                     "rounds go on until the ratio's interval is at most so wide, as in 0.2%; left "
                     "out: until there is a verdict");
  repeated(command, "--fail-on", options.fail_on, "slower, undecided or both: exit status 4 and 5")
      ->delimiter(',');
}

void add_check_options(CLI::App& command, SpecOptions& options) {
  command
      .add_option(
          "--suite", options.suite, "one of those that `assay operators OPERATOR` shows, or all")
      ->capture_default_str();
}

}  // namespace assay::client
