#include "profiler/workspace.h"

#include "profiler/poison.h"
#include "tests/profiler/replaying_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace assay::profiler {
namespace {

// One input of 12 elements in a shape of choice, and one output of 4, half of it live.
class TinyProblem : public kernels::Problem {
 public:
  explicit TinyProblem(std::vector<std::int64_t> shape) {
    tensors_ = {{.name = "x",
                 .dtype = kernels::DType::kI32,
                 .role = kernels::Role::kInput,
                 .shape = std::move(shape),
                 .content_key = "tiny/x"},
                {.name = "out",
                 .dtype = kernels::DType::kI32,
                 .role = kernels::Role::kOutput,
                 .shape = {4},
                 .content_key = ""}};
  }

  std::span<const kernels::TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override {
    ++num_fills_;
    std::memset(bytes, 1, static_cast<std::size_t>(kernels::num_bytes(tensors_[tensor])));
  }

  std::vector<kernels::ElementRange> live(std::size_t /*tensor*/) const override {
    return {{.begin = 1, .end = 3}};
  }

  kernels::Reference reference(std::size_t /*tensor*/) const override { return {}; }

  std::int64_t min_bytes() const override { return 64; }

  std::int64_t min_flops() const override { return 0; }

  int num_fills() const { return num_fills_; }

 private:
  std::vector<kernels::TensorSpec> tensors_;
  mutable int num_fills_ = 0;
};

class WorkspaceTest : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(1 << 10);
  Workspace workspace_{*device_};
  TinyProblem flat_{{12}};
};

TEST_F(WorkspaceTest, RefusesAProblemOverTheLimit) {
  const TinyProblem huge({std::int64_t{1} << 40});
  EXPECT_EQ(workspace_.load(huge).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(WorkspaceTest, FindsAnOverrunOnEitherSide) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  EXPECT_EQ(*workspace_.find_overrun(), "");
  auto* out = static_cast<std::byte*>(workspace_.sets()[0][1]);
  out[16] = std::byte{0};
  EXPECT_EQ(*workspace_.find_overrun(), "past the end of `out`");
  out[16] = kGuardPattern;
  out[-1] = std::byte{0};
  EXPECT_EQ(*workspace_.find_overrun(), "before the start of `out`");
}

TEST(WorkspaceMemory, CountsGuardBands) {
  ReplayingDevice device(1 << 10);
  device.mutable_limits().memory_bytes = 20'000;
  Workspace workspace(device);
  EXPECT_TRUE(workspace.load(TinyProblem({12})).ok());
  const absl::Status status = workspace.load(TinyProblem({4'000}));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(status.message()),
            "workload of 16,016 bytes is over the device's limit of 20,000, of which guard bands "
            "take 16,384, choose a smaller one");
}

TEST_F(WorkspaceTest, GuardsAreOfTheKindOfNumberAndOfThePoison) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  const auto* out = static_cast<const std::byte*>(workspace_.sets()[0][1]);
  for (const std::byte poison : {kFirstPoison, kSecondPoison, kScratchPoison}) {
    ASSERT_TRUE(workspace_.guard(poison).ok());
    const std::byte pattern = guard_pattern(kernels::DType::kI32, poison);
    EXPECT_EQ(out[16], pattern);
    EXPECT_EQ(out[16 + kLeastBandBytes - 1], pattern);
    EXPECT_EQ(out[-1], pattern);
    EXPECT_EQ(out[-kLeastBandBytes], pattern);
    EXPECT_EQ(*workspace_.find_overrun(), "");
  }
  EXPECT_NE(guard_pattern(kernels::DType::kF32, kFirstPoison),
            guard_pattern(kernels::DType::kI32, kFirstPoison));
}

TEST_F(WorkspaceTest, TellsAnOverrunThatNewGuardsHide) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  static_cast<std::byte*>(workspace_.sets()[0][1])[16] = std::byte{1};
  ASSERT_TRUE(workspace_.guard(kFirstPoison).ok());
  ASSERT_TRUE(workspace_.guard(kSecondPoison).ok());
  EXPECT_EQ(*workspace_.find_overrun(), "past the end of `out`");
  workspace_.forget();
  ASSERT_TRUE(workspace_.load(flat_).ok());
  EXPECT_EQ(*workspace_.find_overrun(), "");
}

TEST_F(WorkspaceTest, SplitsABandAtADistanceFromItsTensor) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  ASSERT_TRUE(workspace_.guard(kFirstPoison).ok());
  ASSERT_TRUE(workspace_.split_band(1, Side::kBeforeStart, 8, kSecondPoison, kScratchPoison).ok());
  const auto* out = static_cast<const std::byte*>(workspace_.sets()[0][1]);
  EXPECT_EQ(out[-8], guard_pattern(kernels::DType::kI32, kSecondPoison));
  EXPECT_EQ(out[-9], kScratchPoison);
  EXPECT_EQ(out[-kLeastBandBytes], kScratchPoison);
  EXPECT_EQ(out[16], guard_pattern(kernels::DType::kI32, kFirstPoison));
  EXPECT_EQ(*workspace_.find_overrun(), "before the start of `out`");
}

TEST_F(WorkspaceTest, BandsGrowWithTheirTensor) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  EXPECT_EQ(band_bytes(0), 4096);
  EXPECT_EQ(band_bytes(kMebibyte), 16384);
  EXPECT_EQ(band_bytes(64 * kMebibyte), kMebibyte);
  EXPECT_EQ(band_bytes(4096 * kMebibyte), 4 * kMebibyte);
}

TEST_F(WorkspaceTest, FindsAChangedInputInAnySetAndForgetsIt) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  ASSERT_TRUE(workspace_.rotate(3).ok());
  static_cast<std::byte*>(workspace_.sets()[2][0])[5] = std::byte{9};
  EXPECT_EQ(*workspace_.find_changed_input(0), "");
  EXPECT_EQ(*workspace_.find_changed_input(2), "x");
  workspace_.forget();
  ASSERT_TRUE(workspace_.load(flat_).ok());
  EXPECT_EQ(flat_.num_fills(), 2);
}

TEST_F(WorkspaceTest, KeepsAnInputFromOneProblemToTheNext) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  const TinyProblem same({12});
  ASSERT_TRUE(workspace_.load(same).ok());
  EXPECT_EQ(same.num_fills(), 0);
}

TEST_F(WorkspaceTest, TakesEqualBytesInAnotherShapeForAnotherInput) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  const TinyProblem matrix({3, 4});
  ASSERT_TRUE(workspace_.load(matrix).ok());
  EXPECT_EQ(*workspace_.find_changed_input(0), "");
}

TEST_F(WorkspaceTest, ReadsWhatIsLive) {
  ASSERT_TRUE(workspace_.load(flat_).ok());
  ASSERT_TRUE(workspace_.poison(0, kSecondPoison).ok());
  HostOutputs outputs;
  ASSERT_TRUE(workspace_.read_outputs(0, outputs).ok());
  EXPECT_EQ(outputs.bytes[0][4], kSecondPoison);
  EXPECT_EQ(outputs.bytes[0][11], kSecondPoison);
  EXPECT_EQ(outputs.bytes[0][12], std::byte{0});
}

}  // namespace
}  // namespace assay::profiler
