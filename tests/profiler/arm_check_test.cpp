#include "profiler/arm_check.h"

#include "tests/profiler/sum_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

namespace assay::profiler {
namespace {

class ArmCheckTest : public testing::Test {
 protected:
  v1::BitsReport check(const SumLaunch& launch) {
    EXPECT_TRUE(workspace_.load(problem_).ok());
    ArmChecker checker(*device_, workspace_, references_, problem_, "sum", 1.0);
    v1::Measurement measurement;
    CheckedOutputs checked;
    EXPECT_TRUE(checker.check(sum_arm(launch), nullptr, measurement, checked).ok());
    return measurement.bits();
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1 << 10);
  Workspace workspace_{*device_};
  ReferenceCache references_;
  SumProblem problem_;
};

TEST_F(ArmCheckTest, PassesWhatStaysWithinItsTensors) {
  EXPECT_EQ(check(add_rows).failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(ArmCheckTest, NamesARowThatIsReadPastTheEnd) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    add_rows(tensors);
    for (std::int64_t column = 0; column < kSumWidth; ++column) {
      tensors.out[kSumElements - kSumWidth + column] += tensors.x[kSumElements + column];
    }
  });
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 20 elements past the end of `x`: with other bytes there 20 "
                               "of 100 elements of `out` differ, first out[4, 0]: "),
            0U)
      << bits.detail();
  EXPECT_EQ(bits.drift().num_differing(), kSumWidth);
}

TEST_F(ArmCheckTest, NamesBothSidesOfAllTensorsThatAreReadOutside) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    add_rows(tensors);
    tensors.out[0] += tensors.x[-1] + tensors.x[kSumElements + 2];
    tensors.out[1] += static_cast<float>(tensors.index[-3]);
  });
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 3 elements past the end of `x` and 1 element before the "
                               "start of `x` and 3 elements before the start of `index`: "),
            0U)
      << bits.detail();
}

TEST_F(ArmCheckTest, FindsWhatIsReadOutsideAndMultipliedByZero) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    add_rows(tensors);
    tensors.out[7] += 0.0F * tensors.x[kSumElements];
  });
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 1 element past the end of `x`: with other bytes there 1 of "
                               "100 elements of `out` differ, first out[0, 7]: "),
            0U)
      << bits.detail();
}

TEST_F(ArmCheckTest, FindsATestForZeroOutsideOfIntegers) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    add_rows(tensors);
    tensors.out[0] += tensors.index[kSumElements] == 0 ? 0.0F : 1.0F;
  });
  EXPECT_EQ(bits.detail().find("reads 1 element past the end of `index`: "), 0U) << bits.detail();
}

TEST_F(ArmCheckTest, FindsAMinimumAndAMaximumOfWhatIsOutside) {
  for (const bool is_maximum : {false, true}) {
    const v1::BitsReport bits = check([&](const SumTensors& tensors) {
      add_rows(tensors);
      const float beyond = tensors.x[kSumElements];
      tensors.out[0] =
          is_maximum ? std::fmax(tensors.out[0], beyond) : std::fmin(tensors.out[0], beyond);
    });
    EXPECT_EQ(bits.detail().find("reads 1 element past the end of `x`: "), 0U) << bits.detail();
  }
}

TEST_F(ArmCheckTest, PassesWhatIsReadOutsideAndNotUsed) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    add_rows(tensors);
    // A read that no compiler leaves out.
    const volatile float* const past = tensors.x + kSumElements;
    const volatile float* const before = tensors.x - kSumWidth;
    const float sum = tensors.out[0] + *past + *before;
    tensors.out[0] = tensors.x[0] > 0 ? tensors.out[0] : sum;
  });
  EXPECT_EQ(bits.failed(), v1::BITS_CHECK_UNSPECIFIED) << bits.detail();
}

TEST_F(ArmCheckTest, CallsBitsThatDoNotRepeatSoThoughTheyAlsoFollowWhatIsOutside) {
  float num_calls = 0;
  const v1::BitsReport bits = check([&](const SumTensors& tensors) {
    add_rows(tensors);
    tensors.out[0] = tensors.x[kSumElements] + ++num_calls;
    tensors.out[1] = num_calls;
  });
  EXPECT_EQ(bits.failed(), v1::BITS_REPEATABLE) << bits.detail();
}

TEST_F(ArmCheckTest, NamesUnwrittenElementsBeforeWhatIsReadOutside) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    const float kept = tensors.out[9];
    add_rows(tensors);
    tensors.out[0] += tensors.x[kSumElements];
    tensors.out[9] = kept;
  });
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(), "1 of 100 elements of `out` not written, first out[0, 9]");
}

TEST_F(ArmCheckTest, NamesUnwrittenScratchBeforeWhatIsReadOutside) {
  const v1::BitsReport bits = check([](const SumTensors& tensors) {
    const float unwritten = tensors.out[0];
    add_rows(tensors);
    tensors.out[1] += unwritten;
    tensors.out[2] += tensors.x[kSumElements];
  });
  EXPECT_EQ(bits.detail().find("reads unwritten scratch: with another poison 1 of 100 elements"),
            0U)
      << bits.detail();
}

TEST_F(ArmCheckTest, FindsAWriteOutsideThatOnlyOneCallMakes) {
  int num_calls = 0;
  const v1::BitsReport bits = check([&](const SumTensors& tensors) {
    add_rows(tensors);
    if (++num_calls == 1) {
      tensors.out[-2] = 1.0F;
    }
  });
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(), "written before the start of `out`");
}

}  // namespace
}  // namespace assay::profiler
