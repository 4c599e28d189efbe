#include "tests/client/fixtures.h"

#include "client/report.h"

#include <tuple>
#include <utility>

namespace assay::client {
namespace {

void set(v1::Setting* setting, const std::string& name, const std::string& value) {
  setting->set_name(name);
  setting->set_value(value);
}

void fill_measurement(v1::Measurement& measurement, const std::string& variant) {
  measurement.mutable_arm()->set_variant(variant);
  set(measurement.mutable_arm()->add_parameters(), "threads", "2");
  measurement.set_family("baseline");
  measurement.set_timing_source(v1::STEADY_CLOCK);
  measurement.set_cache_mode(v1::HOT);
  for (std::uint32_t round = 0; round < 12; ++round) {
    v1::Block& block = *measurement.add_blocks();
    block.set_round(round);
    block.set_leg(1);
    block.set_num_calls(20);
  }
  v1::TensorDigest& out = *measurement.add_outputs();
  out.set_tensor("out");
  out.set_digest("0123456789abcdef0123456789abcdef");
  measurement.mutable_bits()->set_tolerance_known(true);
  measurement.mutable_bits()->set_tolerance_used(0.03125);
}

v1::Configuration configuration(std::uint32_t number, const std::string& n_q) {
  v1::Configuration made;
  made.set_configuration(number);
  set(made.mutable_workload()->add_axes(), "kv", "int8");
  set(made.mutable_workload()->add_axes(), "n_q", n_q);
  set(made.mutable_workload()->add_axes(), "width", "2051");
  made.mutable_baseline_arm()->set_variant("one_cell");
  made.mutable_candidate_arm()->set_variant("two_cell");
  made.set_outcome(v1::FINISHED);
  fill_measurement(*made.mutable_baseline(), "one_cell");
  fill_measurement(*made.mutable_candidate(), "two_cell");
  return made;
}

void reject(v1::Configuration& made) {
  v1::BitsReport& bits = *made.mutable_candidate()->mutable_bits();
  bits.set_failed(v1::BITS_EQUAL);
  v1::Drift& drift = *bits.mutable_drift();
  drift.set_tensor("out");
  drift.set_num_elements(12288);
  drift.set_num_differing(1024);
  drift.add_first_index(0);
  drift.add_first_index(3);
  drift.add_first_index(17);
  drift.set_expected_bits("0x3f800000");
  drift.set_found_bits("0x3f800001");
  drift.set_expected_value("1");
  drift.set_found_value("1.0000001");
  drift.set_max_ulp(3);
  drift.set_drift_class(v1::ULP_SIZED);
  v1::Verdict& verdict = *made.add_verdicts();
  verdict.set_verdict(v1::REJECTED);
  verdict.set_rejected_by(v1::BITS_EQUAL);
  verdict.set_reason("the bits differ from the baseline's");
}

void fill_head(v1::Experiment& experiment, v1::ExperimentKind kind) {
  experiment.set_experiment_id(7);
  experiment.set_state(v1::DONE);
  experiment.mutable_spec()->set_kind(kind);
  experiment.mutable_spec()->set_operator_name("qsa_decode");
  experiment.mutable_spec()->set_device("cpu");
  experiment.mutable_spec()->set_seed(5);
  experiment.mutable_device()->set_name("cpu");
  experiment.mutable_device()->set_model("Made-up CPU");
  experiment.mutable_device()->set_code_version("0.1.0+abc");
}

void add_item(v1::Experiment& experiment,
              const std::string& suite,
              const std::string& name,
              std::int64_t num_cases) {
  v1::Configuration& item = *experiment.add_configurations();
  item.set_configuration(static_cast<std::uint32_t>(experiment.configurations_size()));
  item.set_outcome(v1::FINISHED);
  v1::CheckResult& check = *item.mutable_check();
  check.set_suite(suite);
  check.set_name(name);
  check.set_passed(true);
  check.set_num_cases(num_cases);
  experiment.set_num_configurations(item.configuration());
  experiment.set_num_finished(item.configuration());
}

void add_parity(v1::Experiment& experiment, const std::string& format, std::int64_t num_cases) {
  add_item(experiment, "parity", format, num_cases);
  v1::CheckResult& check =
      *experiment.mutable_configurations(experiment.configurations_size() - 1)->mutable_check();
  check.set_num_nontrivial(num_cases * 6144);
  check.add_counts()->set_label(format);
  check.mutable_counts(0)->set_num(num_cases);
  check.set_num_goldens_reproduced(static_cast<std::uint32_t>(num_cases));
}

void add_ceilings(v1::Device& device) {
  for (const auto& [name, value, unit] : {std::tuple("read", 4e12, "bytes/s"),
                                          std::tuple("bf16", 800e12, "flop/s"),
                                          std::tuple("fp32", 60e12, "flop/s")}) {
    v1::Ceiling& ceiling = *device.add_ceilings();
    ceiling.set_name(name);
    ceiling.set_value(value);
    ceiling.set_unit(unit);
    ceiling.set_measured_ns(1'769'860'805'000'000'000);
    ceiling.set_experiment_id(3);
  }
}

// 2 GB and 4 GFLOP, most of them on tensor cores.
void add_counters(v1::KernelCounters& kernel) {
  kernel.set_stage("chunk");
  kernel.set_kernel("chunk_kernel");
  for (const auto& [name, value] :
       {std::pair("sm__made_up.sum", 7.0),
        std::pair("dram__bytes_read.sum", 1.5e9),
        std::pair("dram__bytes_write.sum", 0.5e9),
        std::pair("lts__t_sector_hit_rate.pct", 62.5),
        std::pair("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0.5e9),
        std::pair("sm__ops_path_tensor_src_bf16_dst_fp32.sum", 3e9)}) {
    v1::Metric& metric = *kernel.add_metrics();
    metric.set_name(name);
    metric.set_value(value);
  }
}

void add_kernel(v1::Measurement& measurement) {
  v1::KernelResources& kernel = *measurement.add_resources();
  kernel.set_stage("chunk");
  kernel.set_kernel("chunk_kernel");
  kernel.set_num_registers(128);
  kernel.set_static_shared_bytes(1024);
  kernel.set_dynamic_shared_bytes(65536);
  kernel.set_local_bytes(16);
  kernel.add_grid(132);
  kernel.add_grid(2);
  kernel.add_grid(1);
  kernel.add_block(256);
  kernel.set_num_resident_blocks(2);
  kernel.set_occupancy(0.25);
  kernel.set_machine_code("0123456789abcdef0123456789abcdef");
}

}  // namespace

v1::Verdict made_up_verdict(v1::VerdictKind kind, double ratio, const std::string& reason) {
  v1::Verdict verdict;
  verdict.set_verdict(kind);
  verdict.set_reason(reason);
  verdict.set_bits_equal(true);
  for (const char* name : {"chunk", "total"}) {
    v1::StageVerdict& stage = *verdict.add_stages();
    stage.set_stage(name);
    stage.set_verdict(kind);
    stage.set_has_ratio(true);
    stage.set_ratio(ratio);
    stage.set_ratio_low(ratio - 0.01);
    stage.set_ratio_high(ratio + 0.01);
    stage.set_coverage(0.99951);
    stage.set_num_rounds(12);
    stage.set_baseline_median_ns(1'234'500);
    stage.set_candidate_median_ns(static_cast<std::int64_t>(1'234'500 * ratio));
  }
  return verdict;
}

v1::Experiment made_up_comparison() {
  v1::Experiment experiment;
  fill_head(experiment, v1::COMPARE);
  experiment.set_num_configurations(2);
  experiment.set_num_finished(2);
  v1::Configuration& faster = *experiment.add_configurations();
  faster = configuration(1, "1");
  *faster.add_verdicts() = made_up_verdict(v1::FASTER, 0.8, "the whole interval is below 0.99");
  faster.mutable_verdicts(0)->set_golden("reproduced");
  faster.mutable_baseline()->set_floor_ns(617'250);
  faster.mutable_candidate()->set_floor_ns(617'250);
  v1::Configuration& rejected = *experiment.add_configurations();
  rejected = configuration(2, "2");
  reject(rejected);
  return experiment;
}

v1::Experiment made_up_check() {
  v1::Experiment experiment;
  fill_head(experiment, v1::CHECK);
  experiment.mutable_spec()->set_suite("all");
  add_parity(experiment, "fp16", 584);
  add_parity(experiment, "int8", 584);
  for (const char* name : {"drops_last_cell", "nibbles_swapped"}) {
    add_item(experiment, "mutants", name, 1);
    v1::CheckResult& check =
        *experiment.mutable_configurations(experiment.configurations_size() - 1)->mutable_check();
    check.set_rejected_by(v1::BITS_EQUAL);
    check.set_detail("12 elements differ");
  }
  return experiment;
}

v1::Experiment made_up_bench() {
  v1::Experiment experiment;
  fill_head(experiment, v1::BENCH);
  experiment.mutable_spec()->clear_operator_name();
  experiment.set_num_configurations(1);
  experiment.set_num_finished(1);
  v1::Configuration& configuration = *experiment.add_configurations();
  configuration.set_configuration(1);
  configuration.set_outcome(v1::FINISHED);
  const auto add = [&](const char* name, double value, const char* unit, const char* help) {
    v1::Ceiling& ceiling = *configuration.add_ceilings();
    ceiling.set_name(name);
    ceiling.set_value(value);
    ceiling.set_unit(unit);
    ceiling.set_help(help);
    ceiling.set_measured_ns(1'769'860'805'000'000'000);
    ceiling.set_experiment_id(7);
  };
  add("read", 4.625e12, "bytes/s", "reading memory");
  add("fp32", 60e12, "flop/s", "fused multiply-adds in fp32");
  add("launch", 2310, "ns", "a call that does nothing");
  add("activity_cost", -0.0012, "share", "what recording adds");
  return experiment;
}

v1::Experiment made_up_profile() {
  v1::Experiment experiment = made_up_comparison();
  experiment.mutable_configurations()->RemoveLast();
  experiment.set_num_configurations(1);
  experiment.set_num_finished(1);
  add_ceilings(*experiment.mutable_device());
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  for (v1::StageVerdict& stage : *configuration.mutable_verdicts(0)->mutable_stages()) {
    stage.set_baseline_median_ns(stage.stage() == "total" ? 2'000'000 : 1'000'000);
  }
  v1::Measurement& baseline = *configuration.mutable_baseline();
  v1::Measurement& candidate = *configuration.mutable_candidate();
  for (v1::Measurement* measurement : {&baseline, &candidate}) {
    measurement->set_timing_source(v1::CUDA_EVENTS);
    measurement->set_launch_mode(v1::GRAPH);
    measurement->set_cache_mode(v1::COLD);
    measurement->set_num_input_sets(4);
    add_kernel(*measurement);
  }
  add_counters(*baseline.add_counters());
  baseline.set_min_bytes(1'000'000'000);
  baseline.set_min_flops(600'000'000'000);
  v1::Admission& admission = *baseline.mutable_admission();
  admission.set_waited_ns(350'000'000);
  admission.set_stable(true);
  admission.set_sm_clock_mhz(1980);
  admission.set_wanted_sm_clock_mhz(1980);
  candidate.mutable_admission()->set_waited_ns(5'000'000'000);
  candidate.mutable_admission()->set_detail("clock still rises");
  candidate.mutable_blocks(0)->set_num_other_processes(1);
  candidate.mutable_blocks(5)->set_num_other_processes(3);
  v1::StageSamples& events = *baseline.add_event_stages();
  events.set_stage("total");
  events.add_samples_ns(2'100'000);
  v1::StageSamples& activity = *baseline.add_activity_stages();
  activity.set_stage("total");
  activity.add_samples_ns(1'500'000);
  v1::KernelResources& merge = *candidate.add_resources();
  merge.set_stage("merge");
  merge.set_kernel("merge_kernel");
  merge.set_num_registers(32);
  merge.set_num_blocks(4);
  merge.set_num_threads(64);
  merge.set_machine_code("89abcdef0123456789abcdef01234567");
  return experiment;
}

v1::CheckResult& add_made_up_item(v1::Experiment& experiment,
                                  const std::string& suite,
                                  const std::string& name,
                                  std::int64_t num_cases) {
  add_item(experiment, suite, name, num_cases);
  return *experiment.mutable_configurations(experiment.configurations_size() - 1)->mutable_check();
}

std::string text_of(const v1::Experiment& experiment, Format format, bool with_samples) {
  const auto text = experiment_text(experiment, format, with_samples);
  return text.ok() ? *text : "";
}

std::string tail_of(const std::string& text, int num) {
  std::size_t place = text.size();
  for (int i = 0; i <= num && place != std::string::npos; ++i) {
    place = text.rfind('\n', place - 1);
  }
  return text.substr(place + 1);
}

}  // namespace assay::client
