#include "server/board.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

class BoardTest : public testing::Test {
 protected:
  BoardTest() : board_({named("cpu")}) {
    static_cast<void>(board_.next_job("cpu"));  // the probe
  }

  static v1::Device named(const std::string& name) {
    v1::Device device;
    device.set_name(name);
    return device;
  }

  void enqueue(std::int64_t id, v1::ExperimentKind kind, std::int64_t confirms = 0) {
    v1::Experiment experiment;
    experiment.set_experiment_id(id);
    experiment.mutable_spec()->set_device("cpu");
    experiment.mutable_spec()->set_kind(kind);
    experiment.mutable_spec()->set_confirms_regression_id(confirms);
    board_.enqueue(experiment, 0);
  }

  std::int64_t next() {
    const std::int64_t id = board_.next_job("cpu").experiment_id;
    board_.end(id);
    return id;
  }

  Board board_;
};

TEST_F(BoardTest, TakesWhatSomebodyAskedForBeforeWhatTheDaemonAskedFor) {
  enqueue(1, v1::MEASURE, 7);
  enqueue(2, v1::COMPARE);
  enqueue(3, v1::MEASURE, 8);
  enqueue(4, v1::SWEEP);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 4);
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 3);
}

TEST_F(BoardTest, InterruptsNoSweepForWhatTheDaemonAskedFor) {
  enqueue(1, v1::SWEEP);
  EXPECT_EQ(board_.next_job("cpu").experiment_id, 1);
  enqueue(2, v1::MEASURE, 7);
  EXPECT_EQ(board_.take_before_sweep("cpu"), std::nullopt);
  enqueue(3, v1::COMPARE);
  EXPECT_EQ(board_.take_before_sweep("cpu"), 3);
}

TEST_F(BoardTest, KnowsTheOperatorsOfDevicesThatAnswered) {
  EXPECT_FALSE(board_.operator_info("fake").has_value());
  Description description;
  description.device = named("cpu");
  description.operators.emplace_back().set_name("fake");
  board_.set_described("cpu", description);
  ASSERT_TRUE(board_.operator_info("fake").has_value());
  EXPECT_FALSE(board_.operator_info("other").has_value());
}

}  // namespace
}  // namespace assay::server
