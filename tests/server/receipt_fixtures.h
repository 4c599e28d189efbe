// A made-up receipt of a comparison, a check and a sweep, whose text and digest are pinned.
#pragma once

#include "server/receipt.h"
#include "server/receipt_experiment.h"
#include "server/receipt_not_run.h"
#include "tests/client/fixtures.h"
#include "tests/client/sweep_fixtures.h"

#include <string>

namespace assay::server {

inline v1::Experiment with_head(v1::Experiment experiment, const std::string& request_id) {
  experiment.set_request_id(request_id);
  experiment.set_started_ns(1'769'860'800'000'000'000);
  experiment.set_finished_ns(1'769'860'805'000'000'000);
  for (v1::Configuration& configuration : *experiment.mutable_configurations()) {
    for (v1::Verdict& verdict : *configuration.mutable_verdicts()) {
      verdict.set_rule_version(1);
      verdict.set_least_effect(0.01);
      verdict.set_judged_ns(1'769'860'805'000'000'000);
    }
  }
  return experiment;
}

inline v1::Experiment made_up_surviving_check() {
  v1::Experiment experiment = client::made_up_check();
  v1::CheckResult& mutant = *experiment.mutable_configurations(3)->mutable_check();
  mutant.set_passed(false);
  mutant.clear_rejected_by();
  mutant.set_detail("nothing differs");
  v1::CheckResult& parity = *experiment.mutable_configurations(0)->mutable_check();
  parity.set_tolerance_used(0.25);
  parity.set_tolerance_alarm(true);
  v1::ToleranceBucket& bucket = *parity.add_tolerance_buckets();
  bucket.set_least_terms(1);
  bucket.set_most_terms(128);
  bucket.set_num_elements(5000);
  bucket.set_tolerance_used(0.25);
  client::add_made_up_item(experiment, "invariances", "alone", 16);
  return experiment;
}

inline v1::Experiment made_up_race() {
  v1::Experiment experiment = client::made_up_sweep();
  client::add_try(experiment, "64", "1", v1::FASTER, 0.9);
  client::add_try(experiment, "64", "2", v1::SAME, 1.001);
  client::add_dropped(experiment, "64", "4", 1.5);
  client::add_failed(experiment, "64", "8", v1::LAUNCH, "too much shared memory");
  return experiment;
}

inline v1::Receipt made_up_receipt() {
  v1::Receipt receipt;
  receipt.set_format_version(kReceiptFormat);
  receipt.set_judged_until_ns(1'769'860'805'000'000'000);
  v1::Experiment comparison = with_head(client::made_up_comparison(), "compare");
  v1::Context& context = *comparison.mutable_spec()->mutable_context();
  context.set_commit("0123456789abcdef");
  context.set_dirty(true);
  context.set_branch("feature");
  v1::Setting& label = *context.add_labels();
  label.set_name("pr");
  label.set_value("17");
  for (const v1::Experiment& experiment : {comparison,
                                           with_head(made_up_surviving_check(), "check"),
                                           with_head(made_up_race(), "sweep"),
                                           with_head(client::made_up_bench(), "bench")}) {
    *receipt.add_experiments() = receipt_experiment(experiment);
  }
  add_not_run(receipt);
  receipt.set_digest(digest_of(receipt));
  return receipt;
}

}  // namespace assay::server
