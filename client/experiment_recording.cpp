#include "client/experiment_recording.h"

#include "client/samples.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <vector>

namespace assay::client {
namespace {

constexpr char kVariant[] = "variant";

void add_missing(v1::Recording& recording, const std::string& name) {
  const auto& parameters = recording.parameters();
  if (std::ranges::find(parameters, name) == parameters.end()) {
    recording.add_parameters(name);
  }
}

// Axes first, then what differs between arms.
void add_parameters(v1::Recording& recording, const v1::Experiment& experiment) {
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const v1::Setting& axis : configuration.workload().axes()) {
      add_missing(recording, axis.name());
    }
  }
  add_missing(recording, kVariant);
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const v1::Arm* arm : {&configuration.baseline_arm(),
                               &configuration.candidate_arm(),
                               &configuration.baseline().arm(),
                               &configuration.candidate().arm()}) {
      for (const v1::Setting& parameter : arm->parameters()) {
        add_missing(recording, parameter.name());
      }
    }
  }
}

std::string value_of(const std::string& name, const v1::Workload& workload, const v1::Arm& arm) {
  if (name == kVariant) {
    return arm.variant();
  }
  for (const auto& settings : {arm.parameters(), workload.axes()}) {
    for (const v1::Setting& setting : settings) {
      if (setting.name() == name) {
        return setting.value();
      }
    }
  }
  return "";
}

v1::FailureClass failure_of(v1::Outcome outcome) {
  switch (outcome) {
    case v1::FINISHED:
      return v1::FAILURE_CLASS_UNSPECIFIED;
    case v1::REFUSED:
      return v1::LAUNCH;
    case v1::TIMED_OUT:
      return v1::TIMEOUT;
    default:
      return v1::RUNTIME;
  }
}

v1::FailureClass failure_of(v1::BitsCheck check) {
  const bool is_drift = check == v1::BITS_EQUAL || check == v1::BITS_GOLDEN;
  return is_drift ? v1::BIT_DRIFT : v1::WRONG_OUTPUT;
}

// Of the arm that the configuration is about; the other one is only what it is held against.
void set_failure(v1::RecordedRow& row, const v1::Configuration& configuration, bool is_judged) {
  if (configuration.outcome() != v1::FINISHED) {
    row.set_failure(failure_of(configuration.outcome()));
    row.set_message(configuration.message());
  }
  if (!is_judged) {
    return;
  }
  const bool has_verdict = !configuration.verdicts().empty();
  const v1::Verdict verdict = has_verdict ? *configuration.verdicts().rbegin() : v1::Verdict();
  if (verdict.verdict() == v1::REJECTED) {
    row.set_failure(failure_of(verdict.rejected_by()));
    row.set_message(verdict.reason());
  }
  if (configuration.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
    row.set_failure(configuration.failure());
  }
}

// An arm that others were held against on the same workload is one row, with the samples of all.
class Rows {
 public:
  explicit Rows(RecordedFile& file) : file_(file) {}

  void add(const v1::Configuration& configuration,
           const v1::Arm& asked,
           const v1::Measurement& measurement,
           bool is_judged) {
    const v1::Arm& arm = measurement.has_arm() ? measurement.arm() : asked;
    std::vector<std::string> values;
    for (const std::string& name : file_.recording.parameters()) {
      values.push_back(value_of(name, configuration.workload(), arm));
    }
    v1::RecordedRow& row = row_of(values);
    const v1::StageSamples* const total = find_stage(measurement, "total");
    for (const BlockSamples& block : blocks_of(measurement)) {
      if (!block.block->disqualified()) {
        for (const std::int64_t sample_ns : samples_of(total, block)) {
          row.add_samples_ns(static_cast<double>(sample_ns));
        }
      }
    }
    set_failure(row, configuration, is_judged);
  }

 private:
  v1::RecordedRow& row_of(const std::vector<std::string>& values) {
    const auto [place, is_new] = places_.emplace(values, file_.rows.size());
    if (is_new) {
      v1::RecordedRow& row = file_.rows.emplace_back();
      row.set_row(static_cast<std::uint32_t>(file_.rows.size()));
      row.set_name(file_.recording.name());
      row.mutable_values()->Add(values.begin(), values.end());
    }
    return file_.rows[place->second];
  }

  RecordedFile& file_;
  std::map<std::vector<std::string>, std::size_t> places_;
};

}  // namespace

absl::StatusOr<RecordedFile> recording_of(const v1::Experiment& experiment) {
  const v1::ExperimentKind kind = experiment.spec().kind();
  if (kind == v1::CHECK || kind == v1::BENCH) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ", v1::ExperimentKind_Name(kind), " times no arms"));
  }
  RecordedFile file;
  file.recording.set_name(experiment.spec().operator_name());
  file.recording.set_device_name(experiment.device().model().empty() ? experiment.device().name()
                                                                     : experiment.device().model());
  file.recording.set_objective("time");
  add_parameters(file.recording, experiment);
  Rows rows(file);
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const bool is_alone = configuration.candidate_arm().variant().empty();
    rows.add(configuration, configuration.baseline_arm(), configuration.baseline(), is_alone);
    if (!is_alone) {
      rows.add(configuration, configuration.candidate_arm(), configuration.candidate(), true);
    }
  }
  file.recording.set_num_rows(static_cast<std::uint32_t>(file.rows.size()));
  return file;
}

}  // namespace assay::client
