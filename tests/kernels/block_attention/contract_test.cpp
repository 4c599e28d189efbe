#include "kernels/block_attention/contract.h"

#include "tests/kernels/block_attention/inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace assay::kernels::block_attention {
namespace {

std::string refusal(const Shape& shape, std::span<const std::int64_t> table = {}) {
  const absl::Status status = check_shape(shape, table);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

Shape good_shape() {
  return {.num_streams = 2,
          .width = 8,
          .num_heads = 32,
          .num_kv_heads = 8,
          .dim = 128,
          .window = 2'047,
          .num_groups = 1,
          .most_context = 100,
          .scale = 1.0F};
}

TEST(Contract, NamesTheFieldThatItRefuses) {
  const auto with = [](auto change) {
    Shape shape = good_shape();
    change(shape);
    return refusal(shape);
  };
  EXPECT_EQ(with([](Shape& s) { s.dim = 64; }), "dim: 64 is not 128 or 256");
  EXPECT_EQ(with([](Shape& s) { s.num_kv_heads = 0; }), "kv_heads: 0 is not at least 1");
  EXPECT_EQ(with([](Shape& s) { s.num_heads = 30; }), "heads: 30 is not a multiple of kv_heads 8");
  EXPECT_EQ(with([](Shape& s) { s.num_heads = 8 * 17; }),
            "heads: 17 query heads of a key head, at most 16 are allowed");
  EXPECT_EQ(with([](Shape& s) { s.width = 1; }), "width: 1 is outside [2, 16]");
  EXPECT_EQ(with([](Shape& s) { s.width = 17; }), "width: 17 is outside [2, 16]");
  EXPECT_EQ(with([](Shape& s) { s.num_streams = -1; }), "streams: -1 is not at least 0");
  EXPECT_EQ(with([](Shape& s) { s.window = -1; }), "window: -1 is not at least 0");
}

TEST(Contract, NamesTheTableEntryThatIsMisaligned) {
  EXPECT_EQ(refusal(good_shape(), std::array<std::int64_t, 6>{0, 8, 128, 16, 20, 128}),
            "table[1].v offset: 20 is not a multiple of 8 elements");
  EXPECT_EQ(refusal(good_shape(), std::array<std::int64_t, 3>{-8, 8, 128}),
            "table[0].k offset: -8 is not a multiple of 8 elements");
  EXPECT_EQ(refusal(good_shape(), std::array<std::int64_t, 3>{8, 8, 132}),
            "table[0].head stride: 132 is not a multiple of 8 elements");
}

TEST(Contract, TakesNoStreamsAndSixteenHeadsOfAKeyHead) {
  Shape shape = good_shape();
  shape.num_streams = 0;
  shape.num_heads = 128;
  EXPECT_EQ(refusal(shape, std::array<std::int64_t, 3>{std::int64_t{1} << 32, 8, 0}), "");
}

// Against the definition, key by key.
TEST(Contract, RangesHoldTheVisibleKeysAndNoOther) {
  Shape shape = good_shape();
  for (const bool is_causal : {false, true}) {
    for (const std::int32_t width : {2, 7, 16}) {
      for (const std::int32_t context : {0, 1, 7, 15, 16, 17, 40}) {
        for (const std::int32_t window : {0, 1, 6, 7, 15, 16, 17, 39, 40, 41, 2'047, INT32_MAX}) {
          shape.is_causal = is_causal;
          shape.width = width;
          shape.window = window;
          for (std::int32_t row = 0; row < width; ++row) {
            const attention::KeyRange keys = visible_range(shape, context, row);
            for (std::int64_t key = 0; key < context + width; ++key) {
              const bool is_visible = key < context ? context + row - key <= window
                                                    : !is_causal || key - context <= row;
              ASSERT_EQ(key >= keys.begin && key < keys.end, is_visible)
                  << "context " << context << " window " << window << " row " << row << " key "
                  << key;
            }
          }
        }
      }
    }
  }
}

TEST(Contract, RangesDoNotOverflow) {
  Shape shape = good_shape();
  shape.width = 16;
  shape.window = 0;
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max() - 16;
  EXPECT_EQ(visible_range(shape, kMost, 15).begin, kMost);
  EXPECT_EQ(visible_range(shape, kMost, 15).end, kMost + 16);
  shape.window = INT32_MAX;
  EXPECT_EQ(visible_range(shape, kMost, 15).begin, 0);
  EXPECT_EQ(visible_range(shape, 0, 0).begin, 0);
}

TEST(Contract, ParamsPointAtTheTensorsOfTheCall) {
  const std::unique_ptr<Problem> problem = make_problem(workload_of({{"causal", "yes"}}));
  std::array<std::byte, kNumTensors> places = {};
  std::array<void*, kNumTensors> pointers = {};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    pointers[i] = &places[i];
  }
  const Call call = {
      .problem = problem.get(), .tensors = pointers.data(), .parameters = {}, .trace = nullptr};
  const Params params = params_of(call);
  const std::array<const void*, kNumTensors> found = {params.q,
                                                      params.k_block,
                                                      params.v_block,
                                                      params.k_context,
                                                      params.v_context,
                                                      params.table,
                                                      params.lengths,
                                                      params.out,
                                                      params.result,
                                                      params.partial_m,
                                                      params.partial_l,
                                                      params.partial_o,
                                                      params.run_m,
                                                      params.run_l,
                                                      params.run_o,
                                                      params.slice_m,
                                                      params.slice_l,
                                                      params.slice_o};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], pointers[i]) << i;
  }
  EXPECT_TRUE(params.is_causal);
  EXPECT_EQ(params.window, 2'047);
  EXPECT_EQ(params.num_groups, 9);
  EXPECT_EQ(params.scale, 0x1.6a09e6p-4F);
}

}  // namespace
}  // namespace assay::kernels::block_attention
