#include "tests/client/sweep_fixtures.h"

#include "client/sweep_races.h"
#include "proto/text.h"
#include "tests/client/fixtures.h"

#include <vector>

namespace assay::client {
namespace {

void set(v1::Setting* setting, const std::string& name, const std::string& value) {
  setting->set_name(name);
  setting->set_value(value);
}

v1::Arm two_cell(const std::string& cells) {
  v1::Arm arm;
  arm.set_variant("two_cell");
  set(arm.add_parameters(), "cells_per_step", cells);
  set(arm.add_parameters(), "threads", "2");
  return arm;
}

v1::Arm incumbent_of(const v1::Experiment& experiment, const v1::Workload& workload) {
  const std::vector<WorkloadRace> races = races_of(experiment);
  v1::Arm first;
  first.set_variant("one_cell");
  if (races.empty() || proto::text_of(races.back().workload) != proto::text_of(workload) ||
      !races.back().result.winner) {
    return first;
  }
  return races.back().result.entries[*races.back().result.winner].arm;
}

v1::Configuration& add_configuration(v1::Experiment& experiment,
                                     const std::string& width,
                                     const std::string& cells) {
  v1::Workload workload;
  set(workload.add_axes(), "kv", "int8");
  set(workload.add_axes(), "width", width);
  const v1::Arm incumbent = incumbent_of(experiment, workload);
  v1::Configuration& made = *experiment.add_configurations();
  made.set_configuration(static_cast<std::uint32_t>(experiment.configurations_size()));
  *made.mutable_workload() = workload;
  *made.mutable_baseline_arm() = incumbent;
  *made.mutable_candidate_arm() = two_cell(cells);
  made.set_outcome(v1::FINISHED);
  experiment.set_num_configurations(made.configuration());
  experiment.set_num_finished(made.configuration());
  return made;
}

v1::Block block_of_round(std::uint32_t round) {
  v1::Block block;
  block.set_round(round);
  block.set_num_calls(20);
  return block;
}

void add_rounds(v1::Configuration& made, std::uint32_t num) {
  for (v1::Measurement* measurement : {made.mutable_baseline(), made.mutable_candidate()}) {
    measurement->set_timing_source(v1::STEADY_CLOCK);
    measurement->set_cache_mode(v1::HOT);
    for (std::uint32_t round = 0; round < num; ++round) {
      *measurement->add_blocks() = block_of_round(round);
    }
  }
}

void fail_bits(v1::Configuration& made, v1::BitsCheck check, const std::string& detail) {
  v1::BitsReport& bits = *made.mutable_candidate()->mutable_bits();
  bits.set_failed(check);
  bits.set_detail(detail);
  v1::Verdict& verdict = *made.add_verdicts();
  verdict.set_verdict(v1::REJECTED);
  verdict.set_rejected_by(check);
}

}  // namespace

v1::Experiment made_up_sweep() {
  v1::Experiment experiment;
  experiment.set_experiment_id(7);
  experiment.set_state(v1::DONE);
  experiment.mutable_spec()->set_kind(v1::SWEEP);
  experiment.mutable_spec()->set_operator_name("qsa_decode");
  experiment.mutable_spec()->set_device("cpu");
  experiment.mutable_device()->set_name("cpu");
  experiment.mutable_device()->set_model("Made-up CPU");
  return experiment;
}

v1::Configuration& add_try(v1::Experiment& experiment,
                           const std::string& width,
                           const std::string& cells,
                           v1::VerdictKind kind,
                           double ratio) {
  v1::Configuration& made = add_configuration(experiment, width, cells);
  add_rounds(made, 12);
  *made.add_verdicts() = made_up_verdict(kind, ratio, "");
  for (v1::StageVerdict& stage : *made.mutable_verdicts(0)->mutable_stages()) {
    stage.set_bar(0.013);
  }
  return made;
}

v1::Configuration& add_dropped(v1::Experiment& experiment,
                               const std::string& width,
                               const std::string& cells,
                               double ratio) {
  v1::Configuration& made = add_configuration(experiment, width, cells);
  add_rounds(made, 3);
  *made.add_verdicts() = made_up_verdict(v1::UNDECIDED, ratio, "too few rounds");
  for (v1::StageVerdict& stage : *made.mutable_verdicts(0)->mutable_stages()) {
    stage.set_has_ratio(false);
  }
  made.set_stopped_because("dropped: slower in each of 3 rounds");
  return made;
}

v1::Configuration& add_failed(v1::Experiment& experiment,
                              const std::string& width,
                              const std::string& cells,
                              v1::FailureClass failure,
                              const std::string& message) {
  v1::Configuration& made = add_configuration(experiment, width, cells);
  switch (failure) {
    case v1::WRONG_OUTPUT:
      fail_bits(made, v1::BITS_TOLERANCE, message);
      return made;
    case v1::BIT_DRIFT:
      fail_bits(made, v1::BITS_EQUAL, message);
      return made;
    case v1::LAUNCH:
      fail_bits(made, v1::BITS_FINISHED, message);
      return made;
    case v1::TIMEOUT:
      made.set_outcome(v1::TIMED_OUT);
      break;
    case v1::RUNTIME:
      made.set_outcome(v1::CRASHED);
      break;
    default:
      made.set_outcome(v1::REFUSED);
      made.set_failure(failure);
  }
  made.set_message(message);
  return made;
}

v1::Tuning made_up_tuning(const std::string& width, const std::string& cells) {
  v1::Tuning tuning;
  tuning.set_device_model("Made-up GPU");
  tuning.set_compute_capability("9.0");
  tuning.set_operator_name("qsa_decode");
  tuning.set_workload("kv=int8,width=" + width);
  tuning.set_code_digest("0123456789abcdef");
  tuning.set_toolkit_version("CUDA 13.0");
  tuning.set_driver_version("580.1");
  *tuning.mutable_arm() = two_cell(cells);
  tuning.set_median_ns(61'500);
  tuning.mutable_baseline_arm()->set_variant("one_cell");
  tuning.set_ratio(0.5);
  tuning.set_ratio_low(0.49);
  tuning.set_ratio_high(0.51);
  tuning.set_noise(0.013);
  *tuning.add_ties() = two_cell("8");
  tuning.set_num_configurations(3);
  tuning.set_num_valid(4);
  tuning.set_strategy("random");
  tuning.set_experiment_id(7);
  tuning.set_measured_ns(1'769'860'805'000'000'000);
  tuning.set_code_version("0.1.0+abc");
  return tuning;
}

}  // namespace assay::client
