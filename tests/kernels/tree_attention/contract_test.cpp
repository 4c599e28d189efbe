#include "kernels/tree_attention/contract.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace assay::kernels::tree_attention {
namespace {

constexpr Shape kGood = {.num_streams = 1,
                         .num_rows = 2,
                         .num_heads = 24,
                         .num_kv_heads = 4,
                         .dim = 256,
                         .num_groups = 1,
                         .num_tiles = 1,
                         .most_committed = 5,
                         .scale = 0.0625F};

std::string message_of(const Shape& shape, std::span<const std::int64_t> offsets = {}) {
  const absl::Status status = check_shape(shape, offsets);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(CheckShape, RefusesAnotherDim) {
  Shape shape = kGood;
  shape.dim = 64;
  EXPECT_EQ(message_of(shape), "dim: 64 is not 128 or 256");
}

TEST(CheckShape, RefusesHeadsThatKeyHeadsDoNotDivide) {
  Shape shape = kGood;
  shape.num_heads = 25;
  EXPECT_EQ(message_of(shape), "heads: 25 is not a multiple of kv_heads 4");
  shape.num_heads = 0;
  EXPECT_EQ(message_of(shape), "heads: 0 is not a multiple of kv_heads 4");
  shape.num_kv_heads = 0;
  EXPECT_EQ(message_of(shape), "kv_heads: 0 is not positive");
}

TEST(CheckShape, RefusesMoreThanSixteenHeadsOfAKeyHead) {
  Shape shape = kGood;
  shape.num_heads = 17 * 4;
  EXPECT_EQ(message_of(shape),
            "heads: 17 query heads for each of 4 kv_heads, at most 16 are allowed");
  shape.num_heads = 16 * 4;
  EXPECT_TRUE(check_shape(shape, {}).ok());
}

TEST(CheckShape, RefusesNegativeCounts) {
  Shape shape = kGood;
  shape.num_rows = -1;
  EXPECT_EQ(message_of(shape), "rows: -1 is negative");
  shape = kGood;
  shape.num_streams = -2;
  EXPECT_EQ(message_of(shape), "streams: -2 is negative");
  shape = kGood;
  shape.most_committed = -3;
  EXPECT_EQ(message_of(shape), "committed: -3 is negative");
}

TEST(CheckShape, RefusesAMisalignedOrNegativeOffset) {
  constexpr std::array<std::int64_t, 4> kMisaligned = {0, 8, 16, 20};
  EXPECT_EQ(message_of(kGood, kMisaligned),
            "cache_table[1, 1]: offset 20 is not a multiple of 8 elements (16 bytes)");
  constexpr std::array<std::int64_t, 2> kNegative = {-8, 0};
  EXPECT_EQ(message_of(kGood, kNegative), "cache_table[0, 0]: -8 is negative");
}

TEST(CheckShape, TakesAnEmptyCallAndOffsetsPastTheInt32Range) {
  const Shape empty = {.num_heads = 48, .num_kv_heads = 4, .dim = 128};
  EXPECT_TRUE(check_shape(empty, {}).ok());
  constexpr std::array<std::int64_t, 2> kFar = {std::int64_t{1} << 40, 8};
  EXPECT_TRUE(check_shape(kGood, kFar).ok());
}

}  // namespace
}  // namespace assay::kernels::tree_attention
