#include "server/receipt_not_run.h"

#include "proto/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

// The same reason for many is said once, with how many.
class Reasons {
 public:
  void add(const std::string& reason) {
    const auto [place, is_new] = numbers_.try_emplace(reason, 0);
    if (is_new) {
      order_.push_back(reason);
    }
    ++place->second;
  }

  void say(const std::string& what, const std::string& unit, v1::ReceiptExperiment& receipt) const {
    for (const std::string& reason : order_) {
      receipt.add_not_run(
          absl::StrCat(what, " (", proto::counted(numbers_.at(reason), unit), "): ", reason));
    }
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::int64_t> numbers_;
};

bool is_timed(v1::ExperimentKind kind) {
  return kind != v1::CHECK && kind != v1::BENCH;
}

std::string name_of(const v1::Configuration& configuration) {
  std::string name = absl::StrCat("configuration ", configuration.configuration());
  if (!configuration.check().suite().empty()) {
    return absl::StrCat(
        name, ", ", configuration.check().suite(), "/", configuration.check().name());
  }
  if (configuration.has_workload()) {
    absl::StrAppend(&name, ", ", proto::text_of(configuration.workload()));
  }
  for (const v1::Arm* arm : {&configuration.baseline_arm(), &configuration.candidate_arm()}) {
    if (!arm->variant().empty()) {
      absl::StrAppend(
          &name, arm == &configuration.baseline_arm() ? ", " : " against ", proto::text_of(*arm));
    }
  }
  return name;
}

// How the experiment ended, and what was then still to come.
void add_end(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  if (experiment.state() != v1::DONE) {
    receipt.add_not_run(absl::StrCat("the experiment ended as ",
                                     proto::spoken(v1::TaskState_Name(experiment.state())),
                                     experiment.message().empty() ? "" : ": ",
                                     experiment.message()));
  }
  if (experiment.state() == v1::DONE && experiment.spec().kind() == v1::SWEEP &&
      !experiment.message().empty()) {
    receipt.add_not_run(experiment.message());
  }
  const std::int64_t num_missing =
      std::int64_t{experiment.num_configurations()} - experiment.num_finished();
  if (num_missing > 0) {
    receipt.add_not_run(
        absl::StrCat(proto::with_commas(num_missing),
                     " of ",
                     proto::counted(experiment.num_configurations(), "configuration"),
                     ": the experiment ended before them"));
  }
}

void add_unfinished(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  // Those of a sweep are counted by their class.
  if (experiment.spec().kind() == v1::SWEEP) {
    return;
  }
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (configuration.outcome() != v1::FINISHED) {
      receipt.add_not_run(absl::StrCat(name_of(configuration),
                                       ": ",
                                       proto::spoken(v1::Outcome_Name(configuration.outcome())),
                                       configuration.message().empty() ? "" : ": ",
                                       configuration.message()));
    } else if (!configuration.check().not_run().empty()) {
      receipt.add_not_run(
          absl::StrCat(name_of(configuration), ": ", configuration.check().not_run()));
    }
  }
}

void add_failures(v1::ReceiptExperiment& receipt) {
  for (const v1::ReceiptRace& race : receipt.races()) {
    for (const v1::ReceiptFailure& failure : race.failures()) {
      receipt.add_not_run(absl::StrCat(proto::counted(failure.num(), "configuration"),
                                       " on ",
                                       proto::text_of(race.workload()),
                                       " not ranked: ",
                                       proto::spoken(v1::FailureClass_Name(failure.failure()))));
    }
  }
}

// Checks that every row could have had.
void add_unchecked(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  Reasons counters;
  Reasons references;
  std::int64_t num_without_golden = 0;
  std::int64_t num_without_verdict = 0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (configuration.outcome() != v1::FINISHED) {
      continue;
    }
    for (const v1::Measurement* measurement :
         {&configuration.baseline(), &configuration.candidate()}) {
      if (!measurement->counters_missing().empty()) {
        counters.add(measurement->counters_missing());
      }
      if (measurement->blocks_size() > 0 && !measurement->bits().tolerance_known()) {
        references.add("there is no reference");
      }
    }
    const bool has_verdict = !configuration.verdicts().empty();
    num_without_verdict += has_verdict ? 0 : 1;
    num_without_golden +=
        has_verdict &&
                configuration.verdicts(configuration.verdicts_size() - 1).golden() == "none stored"
            ? 1
            : 0;
  }
  counters.say("hardware counters", "arm", receipt);
  references.say("tolerance", "arm", receipt);
  if (num_without_golden > 0) {
    receipt.add_not_run(absl::StrCat("goldens: none is stored for ",
                                     proto::counted(num_without_golden, "configuration")));
  }
  if (num_without_verdict > 0 && is_timed(experiment.spec().kind())) {
    receipt.add_not_run(absl::StrCat(proto::counted(num_without_verdict, "configuration"),
                                     ": no verdict had been made then"));
  }
}

void add_device(const v1::Device& device, v1::ReceiptExperiment& receipt) {
  if (device.backend() == "cpu") {
    receipt.add_not_run("on a GPU: everything here ran on the backend cpu");
  }
  for (const v1::Capability& capability : device.capabilities()) {
    if (!capability.available()) {
      receipt.add_not_run(absl::StrCat("the device has not: ",
                                       capability.name(),
                                       capability.reason().empty() ? "" : ": ",
                                       capability.reason()));
    }
  }
}

}  // namespace

void add_not_run(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  const v1::ExperimentSpec& spec = experiment.spec();
  add_end(experiment, receipt);
  add_unfinished(experiment, receipt);
  add_failures(receipt);
  add_unchecked(experiment, receipt);
  if (is_timed(spec.kind()) && spec.counters().empty()) {
    receipt.add_not_run("hardware counters: not asked for");
  }
  if (spec.kind() == v1::CHECK && !spec.suite().empty() && spec.suite() != "all") {
    receipt.add_not_run(absl::StrCat("suites other than ", spec.suite(), ": not asked for"));
  }
  add_device(experiment.device(), receipt);
}

void add_not_run(v1::Receipt& receipt) {
  std::set<std::string> checked;
  for (const v1::ReceiptExperiment& experiment : receipt.experiments()) {
    if (experiment.kind() == v1::CHECK) {
      checked.insert(experiment.operator_name());
    }
  }
  for (const v1::ReceiptExperiment& experiment : receipt.experiments()) {
    if (is_timed(experiment.kind()) && checked.insert(experiment.operator_name()).second) {
      receipt.add_not_run(absl::StrCat("parity, invariances and mutants of ",
                                       experiment.operator_name(),
                                       ": no CHECK of it is in this receipt"));
    }
  }
}

}  // namespace assay::server
