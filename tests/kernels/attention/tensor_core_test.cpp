#include "kernels/attention/tensor_core.h"

#include "kernels/attention/cpu_engine.h"
#include "kernels/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

namespace assay::kernels::attention {
namespace {

using Operand = std::array<std::uint16_t, kStepTerms>;

constexpr std::uint16_t kOne = 0x3f80;

std::uint16_t bf16_of(float value) {
  return static_cast<std::uint16_t>(bits_of(value) >> 16);
}

float step(float acc, const std::vector<std::pair<float, float>>& products) {
  Operand a = {};
  Operand b = {};
  for (std::size_t k = 0; k < products.size(); ++k) {
    a[k] = bf16_of(products[k].first);
    b[k] = bf16_of(products[k].second);
  }
  return tensor_core_step(acc, a.data(), b.data());
}

std::vector<StepKernel> step_kernels() {
  std::vector<StepKernel> kernels = {portable::step_kernel()};
  if (avx2::is_available()) {
    kernels.push_back(avx2::step_kernel());
  }
  return kernels;
}

// The first output that a kernel and the scalar step disagree on; empty: none.
std::string disagreement(const StepBlock& block) {
  for (const StepKernel kernel : step_kernels()) {
    StepBlock result = block;
    kernel(&result);
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 8; ++column) {
        const float expected =
            tensor_core_step(block.acc[row][column], block.a[row], block.b[column]);
        const float found = result.acc[row][column];
        if (bits_of(expected) != bits_of(found)) {
          return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
                 std::to_string(bits_of(found)) + " instead of " +
                 std::to_string(bits_of(expected));
        }
      }
    }
  }
  return "";
}

// Sixteen significant bits about 2^centre, `spread` apart; sometimes zero.
std::uint16_t random_bf16(std::uint64_t key, std::uint64_t index, int centre, int spread) {
  const std::uint64_t word = random_word(key, index);
  if (word % 29 == 0) {
    return static_cast<std::uint16_t>(word >> 48 & 0x8000);
  }
  const int offset = static_cast<int>((word >> 8) % static_cast<unsigned>(2 * spread + 1));
  const int field = std::clamp(127 + centre + offset - spread, 0, 254);
  return static_cast<std::uint16_t>((word >> 32 & 0x807f) | static_cast<unsigned>(field << 7));
}

StepBlock random_block(std::uint64_t key, int centre, int spread) {
  StepBlock block;
  std::uint64_t index = 0;
  for (auto& row : block.a) {
    for (std::uint16_t& bits : row) {
      bits = random_bf16(key, index++, centre, spread);
    }
  }
  for (auto& column : block.b) {
    for (std::uint16_t& bits : column) {
      bits = random_bf16(key, index++, centre, spread);
    }
  }
  for (auto& row : block.acc) {
    for (float& acc : row) {
      const std::uint64_t word = random_word(key, index++);
      const auto high = static_cast<std::uint32_t>(
          random_bf16(key, index++, std::clamp(2 * centre, -130, 120), 2 * spread));
      acc = float_of(high << 16 | static_cast<std::uint32_t>(word & 0xffff));
    }
  }
  return block;
}

TEST(TensorCoreStep, GivesEveryOutputMeasuredOnTheDevice) {
  constexpr std::size_t kTiles = 640;
  std::ifstream file(ASSAY_SHARED_DATA "/tensor_core/sm_90_m16n8k16_bf16.bin", std::ios::binary);
  if (!file) {
    GTEST_SKIP() << ASSAY_SHARED_DATA " is not there";
  }
  std::vector<std::uint16_t> a(kTiles * 16 * 16);
  std::vector<std::uint16_t> b(kTiles * 8 * 16);
  std::vector<float> c(kTiles * 16 * 8);
  std::vector<float> d(kTiles * 16 * 8);
  const auto read = [&](auto* values) {
    file.read(reinterpret_cast<char*>(values->data()),
              static_cast<std::streamsize>(values->size() * sizeof(values->front())));
  };
  read(&a);
  read(&b);
  read(&c);
  read(&d);
  ASSERT_TRUE(file);

  int num_different = 0;
  for (std::size_t tile = 0; tile < kTiles; ++tile) {
    for (std::size_t row = 0; row < 16; row += 2) {
      StepBlock block;
      std::memcpy(block.a, &a[(tile * 16 + row) * 16], sizeof(block.a));
      std::memcpy(block.b, &b[tile * 8 * 16], sizeof(block.b));
      std::memcpy(block.acc, &c[(tile * 16 + row) * 8], sizeof(block.acc));
      EXPECT_EQ(disagreement(block), "") << "tile " << tile << ", row " << row;
      portable::step_kernel()(&block);
      num_different += std::memcmp(block.acc, &d[(tile * 16 + row) * 8], sizeof(block.acc)) != 0;
    }
  }
  EXPECT_EQ(num_different, 0);
}

TEST(TensorCoreStep, TruncatesEachTermBelowTheLargest) {
  // 2^-26 of the largest term is gone, however many there are; 2^-25 stays.
  EXPECT_EQ(step(1.0F, {{0x1p-13F, 0x1p-13F}, {0x1p-13F, 0x1p-13F}}), 1.0F);
  EXPECT_EQ(step(-1.0F, {{1.0F, 1.0F}, {0x1p-12F, 0x1p-13F}}), 0x1p-25F);
  EXPECT_EQ(step(-1.0F, {{1.0F, 1.0F}, {0x1p-13F, 0x1p-13F}}), 0.0F);
  EXPECT_EQ(step(0.0F, {{1.0F, 1.0F}, {-0x1p-13F, 0x1p-13F}}), 1.0F);
}

TEST(TensorCoreStep, AlignsToTheExponentsOfTheFactorsNotOfTheProduct) {
  // 1.5 * 1.5 = 2.25 counts as exponent 0, so 2^-25 still shows beside it.
  EXPECT_EQ(step(-2.25F, {{1.5F, 1.5F}, {0x1p-12F, 0x1p-13F}}), 0.0F);
  EXPECT_EQ(step(0.0F, {{1.5F, 1.5F}, {-1.5F, 1.5F}, {0x1p-12F, 0x1p-13F}}), 0x1p-25F);
}

TEST(TensorCoreStep, TruncatesTheSumTowardZero) {
  EXPECT_EQ(step(1.0F, {{0x1p-12F, 0x1p-12F}}), 1.0F);
  EXPECT_EQ(step(-1.0F, {{-0x1.8p-12F, 0x1p-12F}}), -1.0F);
  EXPECT_EQ(step(1.0F, {{0x1.8p-12F, 0x1p-12F}, {0x1p-12F, 0x1p-13F}}), 0x1.000002p+0F);
}

TEST(TensorCoreStep, KeepsSubnormals) {
  EXPECT_EQ(step(0.0F, {{0x1p-100F, 0x1p-49F}}), 0x1p-149F);
  EXPECT_EQ(step(0x1p-149F, {{0x1p-100F, 0x1p-49F}}), 0x1p-148F);
  EXPECT_EQ(step(0.0F, {{0x1p-100F, 0x1p-50F}}), 0.0F);
}

TEST(TensorCoreStep, GivesPlusZeroWhereNoTermIsLeft) {
  EXPECT_EQ(bits_of(step(-0.0F, {})), 0U);
  EXPECT_EQ(bits_of(step(-0.0F, {{-0.0F, 1.0F}})), 0U);
}

TEST(TensorCoreStep, CarriesInfinitiesAndNaNs) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(step(0.0F, {{infinity, 1.0F}}), infinity);
  EXPECT_EQ(bits_of(step(0.0F, {{infinity, 0.0F}})), 0x7fffffffU);
  EXPECT_EQ(bits_of(step(infinity, {{-infinity, 1.0F}})), 0x7fffffffU);
  EXPECT_EQ(bits_of(step(std::nanf(""), {{1.0F, 1.0F}})), 0x7fffffffU);
}

TEST(TensorCoreStep, VectorFormsEqualItOnRandomValues) {
  for (const int centre : {0, -40, 40, -63, 60, -75, -120, 126}) {
    for (const int spread : {0, 1, 4, 20, 120}) {
      for (std::uint64_t turn = 0; turn < 100; ++turn) {
        const std::uint64_t key =
            make_key(turn, "step") + static_cast<std::uint64_t>(centre * 1'000 + spread);
        EXPECT_EQ(disagreement(random_block(key, centre, spread)), "")
            << centre << " " << spread << " " << turn;
      }
    }
  }
}

TEST(TensorCoreStep, VectorFormsEqualItWherePairsCancel) {
  for (std::uint64_t turn = 0; turn < 1'000; ++turn) {
    StepBlock block = random_block(make_key(turn, "cancel"), 0, 6);
    for (int k = 0; k < kStepTerms; k += 2) {
      for (auto& row : block.a) {
        row[k + 1] = static_cast<std::uint16_t>(row[k] ^ 0x8000);
      }
      for (auto& column : block.b) {
        column[k + 1] = column[k];
      }
    }
    // What is left is the accumulator, or the low bits of one pair.
    block.b[3][1] = static_cast<std::uint16_t>(block.b[3][1] ^ 1);
    std::ranges::fill(block.acc[1], 0.0F);
    EXPECT_EQ(disagreement(block), "") << turn;
  }
}

TEST(TensorCoreStep, VectorFormsEqualItAtTheLargestSums) {
  // Sixteen products of nearly 4 leave no room for the accumulator in 32 bits.
  for (const float acc : {0.0F, 1.9999999F, -1.9999999F, 3.9999998F, 0x1p+5F}) {
    for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
      StepBlock block;
      std::ranges::fill(block.acc[0], acc);
      std::ranges::fill(block.acc[1], -acc);
      for (auto& row : block.a) {
        std::ranges::fill(row, static_cast<std::uint16_t>(0x3fff | sign));
      }
      for (auto& column : block.b) {
        std::ranges::fill(column, 0x3fff);
      }
      EXPECT_EQ(disagreement(block), "") << acc << " " << sign;
    }
  }
}

TEST(TensorCoreStep, VectorFormsEqualItBesideZerosAndInfinities) {
  for (std::uint64_t turn = 0; turn < 500; ++turn) {
    StepBlock block = random_block(make_key(turn, "special"), 0, 3);
    std::ranges::fill(block.b[0], 0);
    std::ranges::fill(block.b[1], 0x8000);
    block.acc[0][0] = 0.0F;
    block.acc[1][0] = float_of(0x80000000U);
    block.acc[0][1] = float_of(1U);
    block.b[2][turn % 16] = 0x7f80;
    block.b[4][turn % 16] = 0xffc1;
    block.a[1][turn % 16] = 0;
    block.acc[0][5] = float_of(0xff800000U);
    EXPECT_EQ(disagreement(block), "") << turn;
  }
}

TEST(TensorCoreStep, IsBlindToTheOrderOfK) {
  StepBlock block = random_block(make_key(7, "order"), 0, 20);
  Operand a = {};
  Operand b = {};
  for (std::size_t k = 0; k < kStepTerms; ++k) {
    a[k] = block.a[0][(k * 5 + 3) % kStepTerms];
    b[k] = block.b[0][(k * 5 + 3) % kStepTerms];
  }
  EXPECT_EQ(bits_of(tensor_core_step(block.acc[0][0], a.data(), b.data())),
            bits_of(tensor_core_step(block.acc[0][0], block.a[0], block.b[0])));
  a.fill(kOne);
  EXPECT_NE(tensor_core_step(block.acc[0][0], a.data(), b.data()), 0.0F);
}

}  // namespace
}  // namespace assay::kernels::attention
