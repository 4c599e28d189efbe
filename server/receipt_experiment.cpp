#include "server/receipt_experiment.h"

#include "server/receipt_facts.h"
#include "server/receipt_not_run.h"
#include "server/receipt_race.h"
#include "server/receipt_scrub.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <string>

namespace assay::server {
namespace {

v1::ReceiptArm receipt_arm(const v1::Measurement& measurement, const v1::Arm& asked) {
  v1::ReceiptArm arm;
  // As it ran, with every parameter, or as it was asked for.
  *arm.mutable_arm() = measurement.arm().variant().empty() ? asked : measurement.arm();
  arm.set_family(measurement.family());
  arm.set_code_digest(measurement.code_digest());
  if (measurement.has_bits()) {
    *arm.mutable_bits() = measurement.bits();
  }
  *arm.mutable_outputs() = measurement.outputs();
  arm.set_floor_ns(measurement.floor_ns());
  std::set<std::string> reasons;
  for (const v1::Block& block : measurement.blocks()) {
    arm.set_num_blocks(arm.num_blocks() + 1);
    if (block.disqualified()) {
      arm.set_num_disqualified_blocks(arm.num_disqualified_blocks() + 1);
      reasons.insert(block.disqualified_because());
    }
  }
  *arm.mutable_disqualified_because() = {reasons.begin(), reasons.end()};
  arm.set_num_lost_records(measurement.num_invalid_records() + measurement.num_dropped_records());
  return arm;
}

void add_row(const v1::Configuration& configuration, v1::ReceiptExperiment& receipt) {
  v1::ReceiptRow& row = *receipt.add_rows();
  row.set_configuration(configuration.configuration());
  *row.mutable_workload() = configuration.workload();
  *row.mutable_baseline() = receipt_arm(configuration.baseline(), configuration.baseline_arm());
  if (configuration.has_candidate_arm() || configuration.has_candidate()) {
    *row.mutable_candidate() =
        receipt_arm(configuration.candidate(), configuration.candidate_arm());
  }
  if (!configuration.verdicts().empty()) {
    *row.mutable_verdict() = configuration.verdicts(configuration.verdicts_size() - 1);
    row.mutable_verdict()->clear_noise_floor_experiment_id();
  }
  row.set_outcome(configuration.outcome());
  row.set_failure(configuration.failure());
  row.set_message(configuration.message());
  row.set_stopped_because(configuration.stopped_because());
}

void add_check(const v1::Configuration& configuration, v1::ReceiptExperiment& receipt) {
  v1::ReceiptCheck& check = *receipt.add_checks();
  check.set_configuration(configuration.configuration());
  *check.mutable_result() = configuration.check();
  check.mutable_result()->clear_digests();
  std::string cases;
  for (const v1::CaseDigest& each : configuration.check().digests()) {
    absl::StrAppend(&cases, each.workload(), " ", each.digest(), "\n");
  }
  check.set_cases_digest(cases.empty() ? "" : tuning::content_digest(cases));
  check.set_outcome(configuration.outcome());
  check.set_message(configuration.message());
}

void add_ceilings(const v1::Configuration& configuration, v1::ReceiptExperiment& receipt) {
  for (const v1::Ceiling& ceiling : configuration.ceilings()) {
    v1::Ceiling& copy = *receipt.add_ceilings();
    copy = ceiling;
    copy.clear_device_uuid();
    copy.clear_experiment_id();
  }
}

void add_results(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  if (experiment.spec().kind() == v1::SWEEP) {
    add_races(experiment, receipt);
    return;
  }
  for (const v1::Configuration& configuration : experiment.configurations()) {
    switch (experiment.spec().kind()) {
      case v1::CHECK:
        add_check(configuration, receipt);
        break;
      case v1::BENCH:
        add_ceilings(configuration, receipt);
        break;
      default:
        add_row(configuration, receipt);
        break;
    }
  }
}

}  // namespace

void keep_verdicts_until(std::int64_t judged_until_ns, v1::Experiment& experiment) {
  if (judged_until_ns == 0) {
    return;
  }
  for (v1::Configuration& configuration : *experiment.mutable_configurations()) {
    auto& verdicts = *configuration.mutable_verdicts();
    while (!verdicts.empty() && verdicts[verdicts.size() - 1].judged_ns() > judged_until_ns) {
      verdicts.RemoveLast();
    }
  }
}

std::int64_t newest_judged_ns(const v1::Experiment& experiment) {
  std::int64_t newest = 0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (!configuration.verdicts().empty()) {
      newest =
          std::max(newest, configuration.verdicts(configuration.verdicts_size() - 1).judged_ns());
    }
  }
  return newest;
}

std::string receipt_name(const std::string& request_id) {
  return tuning::content_digest(request_id);
}

v1::ReceiptExperiment receipt_experiment(const v1::Experiment& experiment) {
  const v1::ExperimentSpec& spec = experiment.spec();
  v1::ReceiptExperiment receipt;
  receipt.set_request(receipt_name(experiment.request_id()));
  receipt.set_kind(spec.kind());
  receipt.set_operator_name(spec.operator_name());
  receipt.set_state(experiment.state());
  receipt.set_message(experiment.message());
  receipt.set_started_ns(experiment.started_ns());
  receipt.set_finished_ns(experiment.finished_ns());
  receipt.set_num_configurations(experiment.num_configurations());
  receipt.set_num_finished(experiment.num_finished());
  receipt.set_label(spec.label());
  if (spec.has_context()) {
    *receipt.mutable_context() = spec.context();
    receipt.mutable_context()->clear_note();
  }
  add_environment(experiment, receipt);
  add_judged_by(experiment, receipt);
  add_results(experiment, receipt);
  add_not_run(experiment, receipt);
  Scrub(experiment.device()).message(receipt);
  return receipt;
}

}  // namespace assay::server
