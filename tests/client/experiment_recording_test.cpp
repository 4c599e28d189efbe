#include "client/experiment_recording.h"

#include "tests/client/fixtures.h"
#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

void set(v1::Setting& setting, const std::string& name, const std::string& value) {
  setting.set_name(name);
  setting.set_value(value);
}

// A block of two calls and one of another that does not count.
void fill(v1::Measurement& measurement, std::int64_t first_ns) {
  measurement.add_blocks()->set_num_calls(2);
  measurement.add_blocks()->set_num_calls(1);
  measurement.mutable_blocks(1)->set_disqualified(true);
  v1::StageSamples& chunk = *measurement.add_stages();
  chunk.set_stage("chunk");
  chunk.add_samples_ns(1);
  v1::StageSamples& total = *measurement.add_stages();
  total.set_stage("total");
  for (int i = 0; i < 3; ++i) {
    total.add_samples_ns(first_ns + i);
  }
}

v1::Experiment experiment_of(v1::ExperimentKind kind) {
  v1::Experiment experiment;
  experiment.mutable_spec()->set_kind(kind);
  experiment.mutable_spec()->set_operator_name("qsa_decode");
  experiment.mutable_device()->set_name("gpu");
  experiment.mutable_device()->set_model("a card");
  v1::Configuration& configuration = *experiment.add_configurations();
  configuration.set_outcome(v1::FINISHED);
  set(*configuration.mutable_workload()->add_axes(), "width", "2051");
  configuration.mutable_baseline_arm()->set_variant("one_cell");
  fill(*configuration.mutable_baseline(), 100);
  return experiment;
}

v1::Configuration& add_candidate(v1::Experiment& experiment) {
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.mutable_candidate_arm()->set_variant("two_cell");
  v1::Measurement& candidate = *configuration.mutable_candidate();
  candidate.mutable_arm()->set_variant("two_cell");
  set(*candidate.mutable_arm()->add_parameters(), "slots", "4");
  fill(candidate, 50);
  return configuration;
}

TEST(ExperimentRecording, RefusesWhatTimesNoArms) {
  for (const v1::ExperimentKind kind : {v1::CHECK, v1::BENCH}) {
    EXPECT_EQ(recording_of(experiment_of(kind)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(ExperimentRecording, MakesARowOfEveryArm) {
  v1::Experiment experiment = experiment_of(v1::COMPARE);
  add_candidate(experiment);
  const RecordedFile file = *recording_of(experiment);
  EXPECT_EQ(file.recording.name(), "qsa_decode");
  EXPECT_EQ(file.recording.device_name(), "a card");
  EXPECT_EQ(file.recording.num_rows(), 2U);
  ASSERT_EQ(file.recording.parameters_size(), 3);
  EXPECT_EQ(values_of(file.rows[0]), "2051,one_cell,");
  EXPECT_EQ(values_of(file.rows[1]), "2051,two_cell,4");
  ASSERT_EQ(file.rows[1].samples_ns_size(), 2);
  EXPECT_EQ(file.rows[1].samples_ns(1), 51.0);
  EXPECT_EQ(file.rows[1].failure(), v1::FAILURE_CLASS_UNSPECIFIED);
}

TEST(ExperimentRecording, WritesAnArmThatWasHeldAgainstSeveralOnce) {
  v1::Experiment experiment = experiment_of(v1::SWEEP);
  add_candidate(experiment);
  // The winner so far is what the next one is held against.
  v1::Configuration& next = *experiment.add_configurations();
  next = experiment.configurations(0);
  *next.mutable_baseline_arm() = next.candidate().arm();
  *next.mutable_baseline() = next.candidate();
  next.mutable_candidate()->mutable_arm()->mutable_parameters(0)->set_value("8");
  v1::Configuration& wider = *experiment.add_configurations();
  wider = next;
  wider.mutable_workload()->mutable_axes(0)->set_value("4096");
  const RecordedFile file = *recording_of(experiment);
  std::vector<std::string> rows;
  for (const v1::RecordedRow& row : file.rows) {
    rows.push_back(values_of(row));
    EXPECT_EQ(row.row(), rows.size());
  }
  EXPECT_EQ(rows,
            (std::vector<std::string>{"2051,one_cell,",
                                      "2051,two_cell,4",
                                      "2051,two_cell,8",
                                      "4096,two_cell,4",
                                      "4096,two_cell,8"}));
  EXPECT_EQ(file.rows[0].samples_ns_size(), 2);
  EXPECT_EQ(file.rows[1].samples_ns_size(), 4) << "of both configurations";
  EXPECT_EQ(file.recording.num_rows(), 5U);
}

TEST(ExperimentRecording, SaysWhyACandidateDoesNotRank) {
  v1::Experiment experiment = experiment_of(v1::COMPARE);
  v1::Configuration& configuration = add_candidate(experiment);
  v1::Verdict& verdict = *configuration.add_verdicts();
  verdict.set_verdict(v1::REJECTED);
  verdict.set_reason("512 differ");
  const auto failures = [&experiment] {
    const RecordedFile file = *recording_of(experiment);
    return std::pair(file.rows[0].failure(), file.rows[1].failure());
  };
  const v1::FailureClass none = v1::FAILURE_CLASS_UNSPECIFIED;
  verdict.set_rejected_by(v1::BITS_EQUAL);
  EXPECT_EQ(failures(), std::pair(none, v1::BIT_DRIFT));
  verdict.set_rejected_by(v1::BITS_TOLERANCE);
  EXPECT_EQ(failures(), std::pair(none, v1::WRONG_OUTPUT));
  EXPECT_EQ(recording_of(experiment)->rows[1].message(), "512 differ");
  configuration.set_failure(v1::RESOURCES);
  EXPECT_EQ(failures(), std::pair(none, v1::RESOURCES));
  configuration.clear_failure();
  configuration.clear_verdicts();
  configuration.set_outcome(v1::TIMED_OUT);
  EXPECT_EQ(failures(), std::pair(v1::TIMEOUT, v1::TIMEOUT));
}

TEST(ExperimentRecording, MakesOneRowOfAnArmAlone) {
  v1::Experiment experiment = experiment_of(v1::MEASURE);
  experiment.mutable_configurations(0)->set_failure(v1::RUNTIME);
  const RecordedFile file = *recording_of(experiment);
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows[0].failure(), v1::RUNTIME);
}

}  // namespace
}  // namespace assay::client
