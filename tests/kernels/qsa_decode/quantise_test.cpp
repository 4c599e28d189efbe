#include "kernels/qsa_decode/quantise.h"

#include "kernels/inputs.h"
#include "kernels/numerics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::kernels::qsa_decode {
namespace {

using Values = std::array<float, kHeadDim>;

Values random_row(std::uint64_t seed) {
  Values row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = random_normal(make_key(seed, "row"), i);
  }
  return row;
}

int nibble(const std::array<std::uint8_t, kQ4RowBytes>& bytes, std::size_t dim) {
  const std::uint8_t byte = bytes[dim / 32 * 18 + 2 + dim % 16];
  return dim % 32 < 16 ? byte & 15 : byte >> 4;
}

float block_scale(const std::array<std::uint8_t, kQ4RowBytes>& bytes, std::size_t block) {
  const int bits = bytes[block * 18] | (bytes[block * 18 + 1] << 8);
  return half_to_float(static_cast<std::uint16_t>(bits));
}

TEST(HalfFromFloat, OverflowsAndUnderflows) {
  EXPECT_EQ(half_from_float(65'504.0F), 0x7bff);
  EXPECT_EQ(half_from_float(65'520.0F), 0x7c00);
  EXPECT_EQ(half_from_float(-1e30F), 0xfc00);
  EXPECT_EQ(half_from_float(0x1p-25F), 0x0000);  // a tie goes to even
  EXPECT_EQ(half_from_float(0x1.8p-25F), 0x0001);
  EXPECT_EQ(half_from_float(0x1.8p-24F), 0x0002);  // a tie goes to even
  EXPECT_EQ(half_from_float(-0.0F), 0x8000);
}

TEST(HalfFromFloat, RoundsTiesToEven) {
  EXPECT_EQ(half_from_float(1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(half_from_float(1.0F + 0x1.8p-10F), 0x3c02);
  EXPECT_EQ(half_from_float(0x1.ffep+0F), 0x4000);
}

TEST(HalfFromFloat, InvertsHalfToFloat) {
  for (std::uint32_t half = 0; half < 0x7c00U; ++half) {
    ASSERT_EQ(half_from_float(half_to_float(static_cast<std::uint16_t>(half))), half);
  }
}

TEST(QuantiseInt8, GivesCodeZeroForAZeroScale) {
  Values row = {};
  row[0] = 1e-10F;
  const Int8Row result = quantise_int8(row);
  EXPECT_EQ(result.scales[0], 0);
  EXPECT_TRUE(std::ranges::all_of(result.codes, [](std::int8_t code) { return code == 0; }));
}

TEST(QuantiseInt8, RoundsTiesToEvenAgainstTheStoredScale) {
  Values row = {};
  row[0] = 127.0F;
  row[1] = 0.5F;
  row[2] = 1.5F;
  row[3] = -2.5F;
  row[4] = -127.0F;
  const Int8Row result = quantise_int8(row);
  EXPECT_EQ(result.scales[0], 0x3c00);
  EXPECT_EQ(result.codes[0], 127);
  EXPECT_EQ(result.codes[1], 0);
  EXPECT_EQ(result.codes[2], 2);
  EXPECT_EQ(result.codes[3], -2);
  EXPECT_EQ(result.codes[4], -127);
}

TEST(QuantiseInt8, StaysWithinAStepOfTheValue) {
  const Values row = random_row(1);
  const Int8Row result = quantise_int8(row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const float scale = half_to_float(result.scales[i / kScaleGroup]);
    EXPECT_LE(std::fabs(static_cast<float>(result.codes[i]) * scale - row[i]), 0.6F * scale);
  }
}

TEST(QuantiseQ4, GivesTheMiddleCodeForAZeroBlock) {
  const auto bytes = quantise_q4_0(Values{});
  EXPECT_EQ(block_scale(bytes, 0), 0.0F);
  EXPECT_EQ(nibble(bytes, 0), 8);
}

TEST(QuantiseQ4, TakesTheLargerValueOfEqualMagnitudes) {
  Values row = {};
  row[3] = -4.0F;
  row[17] = 4.0F;
  row[32 + 5] = 4.0F;
  row[32 + 20] = -4.0F;
  const auto bytes = quantise_q4_0(row);
  // d = 4 / -8 in both orders: the positive one becomes code 0, the negative one is cut to 15.
  for (const std::size_t block : {0U, 1U}) {
    EXPECT_EQ(block_scale(bytes, block), -0.5F);
  }
  EXPECT_EQ(nibble(bytes, 17), 0);
  EXPECT_EQ(nibble(bytes, 3), 15);
  EXPECT_EQ(nibble(bytes, 37), 0);
  EXPECT_EQ(nibble(bytes, 52), 15);
}

TEST(QuantiseQ4, RoundsTiesUpByTruncation) {
  Values row = {};
  row[0] = -8.0F;  // d = 1
  row[1] = 0.5F;
  row[2] = -0.5F;
  row[3] = 6.5F;
  const auto bytes = quantise_q4_0(row);
  EXPECT_EQ(nibble(bytes, 0), 0);
  EXPECT_EQ(nibble(bytes, 1), 9);
  EXPECT_EQ(nibble(bytes, 2), 8);
  EXPECT_EQ(nibble(bytes, 3), 15);
}

TEST(Hadamard, IsItsOwnInverseAndKeepsLengths) {
  const Values row = random_row(2);
  Values rotated = row;
  hadamard(rotated);
  double length = 0;
  double rotated_length = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    length += row[i] * row[i];
    rotated_length += rotated[i] * rotated[i];
  }
  EXPECT_NEAR(rotated_length / length, 1.0, 1e-5);
  hadamard(rotated);
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_NEAR(rotated[i], row[i], 1e-5);
  }
}

TEST(Hadamard, RotatedKeysAndQueriesKeepTheirScoreThroughQ4) {
  Values key = random_row(3);
  Values query = random_row(4);
  double exact = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    exact += double{key[i]} * query[i];
  }
  hadamard(key);
  hadamard(query);
  const auto bytes = quantise_q4_0(key);
  double quantised = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    quantised += (nibble(bytes, i) - 8) * double{block_scale(bytes, i / 32)} * query[i];
  }
  // 256 errors of at most half a step of about 0.4 with random signs.
  EXPECT_NEAR(quantised, exact, 8.0);
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
