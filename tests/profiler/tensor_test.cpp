#include "profiler/tensor.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

TEST(Tensor, RefusesAnUnknownDtypeAndListsTheKnown) {
  const auto bytes = element_bytes("fp8");
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bytes.status().message(), "dtype: `fp8` is none of bf16, f16, f32, i32, i64, i8, u8");
  EXPECT_FALSE(validate(whole_tensor("out", "fp8", {2})).ok());
}

TEST(Tensor, RefusesLiveRangesOutOfOrderOrOutside) {
  TensorLayout layout = whole_tensor("out", "f32", {4, 4});
  EXPECT_TRUE(validate(layout).ok());
  layout.live = {{4, 8}, {0, 2}};
  EXPECT_EQ(validate(layout).message(),
            "live: [0, 2) of `out` is out of order or out of the tensor");
  layout.live = {{0, 17}};
  EXPECT_FALSE(validate(layout).ok());
  layout.live = {{3, 2}};
  EXPECT_FALSE(validate(layout).ok());
  EXPECT_FALSE(validate(whole_tensor("out", "f32", {-1})).ok());
}

TEST(Tensor, FindsCoordinatesWithTheLastIndexFastest) {
  const TensorLayout layout = whole_tensor("out", "f32", {2, 3, 5});
  EXPECT_EQ(coordinates(layout, 0), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(coordinates(layout, 29), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(place_of("out", coordinates(layout, 21)), "out[1, 1, 1]");
  EXPECT_EQ(coordinates(whole_tensor("x", "u8", {}), 0), (std::vector<std::int64_t>{0}));
}

TEST(Tensor, CountsLiveElementsOnly) {
  TensorLayout layout = whole_tensor("out", "i8", {10});
  layout.live = {{0, 3}, {5, 9}};
  EXPECT_EQ(num_elements(layout), 10);
  EXPECT_EQ(num_live_elements(layout), 7);
  EXPECT_EQ(num_elements(whole_tensor("empty", "i8", {0, 4})), 0);
}

TEST(Tensor, WritesNumbersWithCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'168), "1,168");
  EXPECT_EQ(with_commas(-1'234'567), "-1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
}

}  // namespace
}  // namespace assay::profiler
