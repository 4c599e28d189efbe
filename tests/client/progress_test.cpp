#include "client/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace assay::client {
namespace {

v1::Experiment running(std::uint32_t num_finished, double progress) {
  v1::Experiment experiment;
  experiment.set_experiment_id(7);
  experiment.set_state(v1::RUNNING);
  experiment.set_num_configurations(4);
  experiment.set_num_finished(num_finished);
  experiment.set_progress(progress);
  return experiment;
}

TEST(Progress, StaysWithinItsBar) {
  EXPECT_EQ(progress_bar(running(4, 1.0)), "[####################] 4 of 4 configurations");
  EXPECT_EQ(progress_bar(v1::Experiment()), "[....................] 0 of 0 configurations");
}

TEST(Progress, WritesPlainLinesOnlyForChanges) {
  std::ostringstream out;
  Progress progress(out, false);
  v1::Experiment queued = running(0, 0);
  queued.set_state(v1::QUEUED);
  queued.set_queue_position(2);
  progress.show(queued);
  progress.show(queued);
  progress.show(running(1, 0.1));
  progress.show(running(1, 0.7));
  EXPECT_EQ(out.str(),
            "experiment 7: queued, position 2\n"
            "experiment 7: running, 1 of 4 configurations\n");
}

TEST(Progress, SaysWhatHoldsARunningExperimentUp) {
  std::ostringstream out;
  Progress progress(out, false);
  v1::Experiment experiment = running(1, 0);
  progress.show(experiment);
  experiment.set_message("makes way for experiment 9");
  progress.show(experiment);
  EXPECT_EQ(out.str(),
            "experiment 7: running, 1 of 4 configurations\n"
            "experiment 7: running, 1 of 4 configurations, makes way for experiment 9\n");
  EXPECT_EQ(progress_bar(experiment),
            "[#####...............] 1 of 4 configurations, makes way for experiment 9");
}

TEST(Progress, DrawsOneLineAgainOnATerminalAndTakesItAway) {
  std::ostringstream out;
  {
    Progress progress(out, true);
    v1::Experiment experiment = running(1, 0.5);
    experiment.set_estimate_ns(12'000'000'000);
    progress.show(experiment);
  }
  EXPECT_EQ(out.str(),
            "\r\033[K[#######.............] 1 of 4 configurations, about 12 s left\r\033[K");
}

}  // namespace
}  // namespace assay::client
