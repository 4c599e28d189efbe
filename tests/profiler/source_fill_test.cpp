#include "profiler/source_fill.h"

#include "profiler/tolerance.h"
#include "tuning/source_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

using kernels::DType;

v1::SourceTensor tensor_of(const std::string& kind, double value, double low = 0, double high = 0) {
  v1::SourceTensor tensor;
  tensor.set_name("x");
  tensor.mutable_fill()->set_kind(kind);
  tensor.mutable_fill()->set_value(value);
  tensor.mutable_fill()->set_low(low);
  tensor.mutable_fill()->set_high(high);
  return tensor;
}

std::vector<std::byte> filled(const v1::SourceTensor& tensor,
                              DType dtype,
                              std::size_t num,
                              std::uint64_t seed = 1) {
  std::vector<std::byte> bytes(num * static_cast<std::size_t>(kernels::size_bytes(dtype)));
  fill_source(tensor, dtype, seed, bytes);
  return bytes;
}

std::vector<double> values_of(const std::vector<std::byte>& bytes, DType dtype) {
  const auto size = static_cast<std::size_t>(kernels::size_bytes(dtype));
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    values.push_back(element_value(dtype, bytes.data() + at));
  }
  return values;
}

TEST(FillSource, RoundsSmallFloatsAsTheirTypesDo) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const std::string name(kernels::name_of(dtype));
    for (const double value : {0.0,
                               -0.0,
                               1.0,
                               -1.5,
                               0.1,
                               3.14159,
                               65504.0,
                               1e-5,
                               6e-8,
                               2e-8,
                               1.0009765625,
                               1.00048828125,
                               1.0014648437,
                               2049.0,
                               2051.0,
                               -1e-7,
                               0x1p-14,
                               0x1.ffcp-15}) {
      const auto bytes = filled(tensor_of("constant", value), dtype, 1);
      // From double in one step, and from the float that it is here.
      const auto expected =
          tuning::source_type_value(name, static_cast<double>(static_cast<float>(value)));
      ASSERT_TRUE(expected.ok());
      EXPECT_EQ(bytes, *expected) << name << " " << value;
    }
  }
}

TEST(FillSource, CountsFromItsValue) {
  EXPECT_EQ(values_of(filled(tensor_of("index", 5), DType::kI64, 3), DType::kI64),
            (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(values_of(filled(tensor_of("index", -0.5), DType::kF32, 3), DType::kF32),
            (std::vector<double>{-0.5, 0.5, 1.5}));
  EXPECT_EQ(values_of(filled(tensor_of("constant", -3), DType::kI8, 2), DType::kI8),
            (std::vector<double>{-3, -3}));
}

TEST(FillSource, StaysWithinItsBounds) {
  for (const double value :
       values_of(filled(tensor_of("uniform", 0, -2, 3), DType::kF32, 1000), DType::kF32)) {
    EXPECT_GE(value, -2);
    EXPECT_LT(value, 3);
  }
  std::vector<int> seen(5);
  for (const double value :
       values_of(filled(tensor_of("uniform", 0, -2, 3), DType::kI32, 1000), DType::kI32)) {
    ++seen.at(static_cast<std::size_t>(value + 2));
  }
  for (const int count : seen) {
    EXPECT_GT(count, 100);
  }
}

TEST(FillSource, HasTheDeviationThatItIsGiven) {
  double squares = 0;
  for (const double value :
       values_of(filled(tensor_of("normal", 2), DType::kF32, 10'000), DType::kF32)) {
    squares += value * value;
  }
  EXPECT_NEAR(std::sqrt(squares / 10'000), 2, 0.1);
}

TEST(FillSource, FollowsTheSeedAndTheName) {
  v1::SourceTensor tensor = tensor_of("normal", 1);
  const auto first = filled(tensor, DType::kF32, 10);
  EXPECT_EQ(filled(tensor, DType::kF32, 10), first);
  EXPECT_NE(filled(tensor, DType::kF32, 10, 2), first);
  tensor.set_name("y");
  EXPECT_NE(filled(tensor, DType::kF32, 10), first);
}

}  // namespace
}  // namespace assay::profiler
