#include "profiler/outside_reads.h"

#include "profiler/checked_call.h"
#include "profiler/poison.h"
#include "tests/profiler/sum_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

namespace assay::profiler {
namespace {

constexpr std::int64_t kBandElements = kLeastBandBytes / 4;

class OutsideReadsTest : public testing::Test {
 protected:
  OutsideReads find(const SumLaunch& launch) {
    EXPECT_TRUE(workspace_.load(problem_).ok());
    const ArmPlan arm = sum_arm(launch);
    absl::Status finished;
    HostOutputs outputs;
    EXPECT_TRUE(
        checked_call(*device_, workspace_, problem_, arm, kFirstPoison, nullptr, finished, outputs)
            .ok());
    auto found = find_outside_reads(*device_,
                                    workspace_,
                                    problem_,
                                    arm,
                                    digests_of(workspace_.compared(), arm, outputs),
                                    kSecondPoison);
    EXPECT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*workspace_.find_overrun(), "");
    return *std::move(found);
  }

  // Reads of x at these distances past its end, into one element.
  static SumLaunch adds_past_end(std::vector<std::int64_t> distances) {
    return [distances = std::move(distances)](const SumTensors& tensors) {
      add_rows(tensors);
      for (const std::int64_t distance : distances) {
        tensors.out[0] += tensors.x[kSumElements + distance];
      }
    };
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1 << 10);
  Workspace workspace_{*device_};
  SumProblem problem_;
};

TEST_F(OutsideReadsTest, FindsNoneWhereNothingIsReadOutside) {
  const OutsideReads found = find(add_rows);
  EXPECT_TRUE(found.reads.empty());
  EXPECT_TRUE(found.outputs.bytes.empty());
}

TEST_F(OutsideReadsTest, MeasuresUpToTheFarthest) {
  for (const std::int64_t farthest : {std::int64_t{0}, std::int64_t{1}, kBandElements - 2}) {
    const OutsideReads found = find(adds_past_end({0, farthest}));
    ASSERT_EQ(found.reads.size(), 1U);
    EXPECT_EQ(found.reads[0].tensor, "x");
    EXPECT_EQ(found.reads[0].num_elements, farthest + 1);
    EXPECT_FALSE(found.reads[0].is_whole_band);
    EXPECT_EQ(found.outputs.bytes.size(), 1U);
  }
}

TEST_F(OutsideReadsTest, MeasuresASumThatLeavesTheRangeOfItsType) {
  std::vector<std::int64_t> distances;
  for (std::int64_t distance = 0; distance < 1000; ++distance) {
    distances.push_back(distance);
  }
  EXPECT_EQ(describe(find(adds_past_end(distances)).reads),
            "reads 1,000 elements past the end of `x`");
}

TEST_F(OutsideReadsTest, MeasuresAMaximumThatSeesNoNaN) {
  const OutsideReads found = find([](const SumTensors& tensors) {
    add_rows(tensors);
    for (std::int64_t distance = 1; distance < 8; ++distance) {
      tensors.out[0] = std::fmax(tensors.out[0], tensors.x[-distance]);
    }
  });
  EXPECT_EQ(describe(found.reads), "reads 7 elements before the start of `x`");
}

TEST_F(OutsideReadsTest, SaysAtLeastWhereTheWholeBandIsRead) {
  EXPECT_EQ(describe(find(adds_past_end({kBandElements - 1})).reads),
            "reads at least 1,024 elements past the end of `x`");
}

TEST_F(OutsideReadsTest, LooksAroundOutputsToo) {
  const OutsideReads found = find([](const SumTensors& tensors) {
    add_rows(tensors);
    tensors.out[3] += tensors.out[-5];
  });
  EXPECT_EQ(describe(found.reads), "reads 5 elements before the start of `out`");
}

TEST_F(OutsideReadsTest, TakesALauncherThatGivesUpForOneThatFollows) {
  ASSERT_TRUE(workspace_.load(problem_).ok());
  ArmPlan arm = sum_arm(add_rows);
  StagePlan& stage = arm.stages.emplace_back();
  stage.launch = [](const kernels::Call& call) {
    const float past = static_cast<const float*>(call.tensors[0])[kSumElements];
    return past > 0 ? absl::InvalidArgumentError("a table is not taken") : absl::OkStatus();
  };
  absl::Status finished;
  HostOutputs outputs;
  ASSERT_TRUE(
      checked_call(*device_, workspace_, problem_, arm, kFirstPoison, nullptr, finished, outputs)
          .ok());
  const auto found = find_outside_reads(*device_,
                                        workspace_,
                                        problem_,
                                        arm,
                                        digests_of(workspace_.compared(), arm, outputs),
                                        kSecondPoison);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(describe(found->reads), "reads 1 element past the end of `x`");
  EXPECT_TRUE(found->outputs.bytes.empty());
}

}  // namespace
}  // namespace assay::profiler
