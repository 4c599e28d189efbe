#include "tuning/source_type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace assay::tuning {
namespace {

std::uint64_t bits_of(std::string_view dtype, const Value& value) {
  const auto bytes = source_type_value(dtype, value);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes->data(), bytes->size());
  return bits;
}

TEST(SourceType, RefusesWhatATypeCannotHold) {
  const auto error = [](std::string_view dtype, const Value& value) {
    return std::string(source_type_value(dtype, value).status().message());
  };
  EXPECT_EQ(error("u8", std::int64_t{256}), "256 is beyond u8");
  EXPECT_EQ(error("u8", std::int64_t{-1}), "-1 is beyond u8");
  EXPECT_EQ(error("i8", std::int64_t{128}), "128 is beyond i8");
  EXPECT_EQ(error("i32", 1.0), "1.0 is no integer for i32");
  EXPECT_EQ(error("f32", std::string("a")), "'a' is no number for f32");
  EXPECT_EQ(error("f32", 1e39), "1e+39 is beyond f32");
  EXPECT_EQ(source_type_bytes("float"), 0);
}

TEST(SourceType, RoundsFloatsAsTheHostDoes) {
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             0.1,
                             -3.14159,
                             1e-40,
                             1.401298464324817e-45,
                             7e-46,
                             3.4028234663852886e38,
                             1.17549435e-38,
                             16777217.0}) {
    EXPECT_EQ(bits_of("f32", value), std::bit_cast<std::uint32_t>(static_cast<float>(value)))
        << value;
    EXPECT_EQ(bits_of("f64", value), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST(SourceType, RoundsHalvesOnceAndToEven) {
  EXPECT_EQ(bits_of("f16", 1.0), 0x3c00U);
  EXPECT_EQ(bits_of("f16", -2.0), 0xc000U);
  EXPECT_EQ(bits_of("f16", 65504.0), 0x7bffU);
  EXPECT_EQ(bits_of("f16", 65519.0), 0x7bffU);
  EXPECT_EQ(bits_of("f16", 5.960464477539063e-08), 0x0001U);
  // Half a step above 1, and a hair more than it that rounding to float first would lose.
  EXPECT_EQ(bits_of("f16", 1.00048828125), 0x3c00U);
  EXPECT_EQ(bits_of("f16", 1.00048828125 + 1e-12), 0x3c01U);
  EXPECT_EQ(bits_of("bf16", 1.0), 0x3f80U);
  EXPECT_EQ(bits_of("bf16", 3.3895313892515355e38), 0x7f7fU);
}

TEST(SourceType, WritesIntegersLowestByteFirst) {
  EXPECT_EQ(bits_of("i32", std::int64_t{-2}), 0xfffffffeU);
  EXPECT_EQ(bits_of("i64", std::numeric_limits<std::int64_t>::min()), 0x8000000000000000U);
  EXPECT_EQ(bits_of("u8", true), 1U);
}

}  // namespace
}  // namespace assay::tuning
