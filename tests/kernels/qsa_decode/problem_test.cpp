#include "kernels/qsa_decode/problem.h"

#include "kernels/inputs.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace assay::kernels::qsa_decode {
namespace {

const Operator& op() {
  return *find_operator("qsa_decode");
}

std::uint64_t digest_of(const std::vector<std::byte>& bytes) {
  std::uint64_t digest = bytes.size();
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    digest = mix_bits(digest ^ word);
  }
  return digest;
}

TEST(Problem, RefusesWhatTheAxesForbid) {
  EXPECT_FALSE(validate({.axes = {{"width", "70"}, {"cap", "65"}}, .seed = 0}).ok());
}

TEST(Problem, HasNoElementsWhereAFormatHasNoTensor) {
  const auto num_scales = [](std::string_view kv, Tensor tensor) {
    const auto problem = make_problem(make_workload(op(), {{"kv", std::string(kv)}}));
    return num_elements(problem->tensors()[tensor]);
  };
  EXPECT_EQ(num_scales("fp16", kKScales), 0);
  EXPECT_EQ(num_scales("q4_0", kVScales), 0);
  EXPECT_EQ(num_scales("k8v4", kVScales), 0);
  EXPECT_EQ(num_scales("k8v4", kKScales), 40'960 * 2 * 4);
  EXPECT_EQ(num_scales("int8", kVScales), 40'960 * 2 * 4);
}

TEST(Problem, SharesThePoolsOfAFormatBetweenWorkloads) {
  const auto first = make_problem(make_workload(op(), {{"width", "64"}}, 1));
  const auto second = make_problem(make_workload(op(), {{"n_q", "3"}, {"page_size", "64"}}, 2));
  for (const Tensor tensor : {kK, kKScales, kV, kVScales}) {
    EXPECT_EQ(first->tensors()[tensor].content_key, second->tensors()[tensor].content_key);
    std::vector<std::byte> a(static_cast<std::size_t>(num_bytes(first->tensors()[tensor])));
    std::vector<std::byte> b(a.size());
    first->fill_input(tensor, a.data());
    second->fill_input(tensor, b.data());
    EXPECT_TRUE(a == b);
  }
  EXPECT_NE(first->tensors()[kQ].content_key, second->tensors()[kQ].content_key);
  EXPECT_NE(first->tensors()[kK].content_key, first->tensors()[kV].content_key);
}

TEST(Problem, KeepsItsInputBytes) {
  std::uint64_t digest = 0;
  for (const std::string_view kv : {"fp16", "int8", "q4_0", "k8v4"}) {
    const Workload workload = make_workload(op(),
                                            {{"kv", std::string(kv)},
                                             {"n_q", "6"},
                                             {"select", "mixed"},
                                             {"resident", "holes"},
                                             {"spread", "borders"},
                                             {"cap", "2112"}},
                                            7);
    const CpuTensors tensors = make_tensors(op(), workload);
    for (std::size_t tensor = 0; tensor < kOut; ++tensor) {
      digest = mix_bits(digest ^ digest_of(tensors.bytes[tensor]));
    }
  }
  EXPECT_EQ(digest, 15873735604799790971U);
}

TEST(Problem, CountsTheBytesOfDistinctVisibleCells) {
  const auto bytes = [](std::vector<Setting> axes) {
    axes.emplace_back("width", "2048");
    return make_problem(make_workload(op(), axes))->min_bytes();
  };
  constexpr std::int64_t kQueryBytes = 2 * 24 * 256 * 4 + 2'048 * 4;
  EXPECT_EQ(bytes({{"kv", "fp16"}}), 2'048 * 2'048 + kQueryBytes);
  EXPECT_EQ(bytes({{"kv", "int8"}}), 2'048 * 1'056 + kQueryBytes);
  EXPECT_EQ(bytes({{"kv", "q4_0"}}), 2'048 * 576 + kQueryBytes);
  EXPECT_EQ(bytes({{"kv", "k8v4"}}), 2'048 * 816 + kQueryBytes);
  EXPECT_EQ(bytes({{"n_q", "2"}, {"sharing", "shared"}}), 2'048 * 1'056 + 2 * kQueryBytes);
  EXPECT_EQ(bytes({{"n_q", "2"}, {"sharing", "disjoint"}}), 4'096 * 1'056 + 2 * kQueryBytes);
  EXPECT_EQ(bytes({{"resident", "none"}}), kQueryBytes);
}

TEST(Problem, CountsTheOperationsOfVisibleCells) {
  const auto flops = [](const std::vector<Setting>& axes) {
    return make_problem(make_workload(op(), axes))->min_flops();
  };
  constexpr std::int64_t kPerCell = 4 * 256 * 24;
  EXPECT_EQ(flops({{"width", "2048"}, {"kv", "q4_0"}}), 2'048 * kPerCell);
  // Each query folds a cell that it shares.
  EXPECT_EQ(flops({{"width", "2048"}, {"n_q", "3"}, {"sharing", "shared"}}), 3 * 2'048 * kPerCell);
  EXPECT_EQ(flops({{"width", "4096"}, {"cap", "2112"}}), 2'112 * kPerCell);
  EXPECT_EQ(flops({{"width", "2048"}, {"resident", "none"}}), 0);
}

TEST(Problem, IsLiveInChunksWithinTheWidth) {
  const auto problem = make_problem(
      make_workload(op(), {{"width", "65"}, {"cap", "192"}, {"n_q", "2"}, {"spread", "falling"}}));
  const std::vector<ElementRange> acc = problem->live(kAcc);
  constexpr std::int64_t kPerChunk = 12 * 256;
  ASSERT_EQ(acc.size(), 4U);
  EXPECT_EQ(acc[0].end - acc[0].begin, 2 * kPerChunk);
  EXPECT_EQ(acc[2].begin, 6 * kPerChunk);
  EXPECT_EQ(acc[3].end - acc[3].begin, 1 * kPerChunk);
  EXPECT_EQ(problem->live(kM).front().end, num_elements(problem->tensors()[kM]));
}

TEST(Problem, ReferenceOfNothingToAttendIsZero) {
  const auto problem = make_problem(make_workload(op(), {{"resident", "none"}}));
  const Reference reference = problem->reference(kOut);
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    ASSERT_EQ(reference.values[i], 0.0);
    ASSERT_GT(reference.tolerances[i], 0.0);
  }
}

// Attention to one cell is that cell's value, and a repeated cell changes nothing.
TEST(Problem, ReferenceOfOneCellIsItsValue) {
  const Workload workload = make_workload(op(), {{"width", "1"}, {"cap", "64"}, {"kv", "fp16"}});
  const CpuTensors tensors = make_tensors(op(), workload);
  std::int32_t cell = 0;
  std::memcpy(&cell, tensors.bytes[kIds].data(), sizeof(cell));
  std::int32_t page = 0;
  std::memcpy(&page, tensors.bytes[kPageTable].data() + cell / 4 * 4, sizeof(page));
  const Reference reference = tensors.problem->reference(kOut);
  for (std::size_t head = 0; head < kNumHeads; ++head) {
    const std::int64_t row =
        (std::int64_t{page} * 2 + static_cast<std::int64_t>(head) / 12) * 4 + cell % 4;
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      std::uint16_t half = 0;
      std::memcpy(&half,
                  tensors.bytes[kV].data() + static_cast<std::size_t>(row) * 512 + d * 2,
                  sizeof(half));
      const double magnitude =
          std::ldexp(1'024 + (half & 1'023), static_cast<int>((half >> 10) & 31) - 25);
      ASSERT_EQ(reference.values[head * kHeadDim + d],
                (half & 0x8000) != 0 ? -magnitude : magnitude);
    }
  }
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
