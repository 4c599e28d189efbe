#include "kernels/block_attention/reference.h"

#include "tests/kernels/block_attention/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::kernels::block_attention {
namespace {

// Two keys of scores 0 and ln 3, values 2 and -6: weights 1/4 and 3/4.
TEST(Reference, OfTwoKeysIsWorkedOutByHand) {
  ReferenceInput input = {.contexts = {1},
                          .width = 1,
                          .num_heads = 1,
                          .num_kv_heads = 1,
                          .dim = 1,
                          .window = 1,
                          .is_causal = false,
                          .scale = std::log(3.0),
                          .read_query = {},
                          .read_key = {},
                          .read_value = {}};
  input.read_query = [](std::size_t, std::int64_t, std::int64_t, std::span<float> q) {
    q[0] = 1.0F;
  };
  input.read_key = [](std::size_t, std::int64_t, std::int64_t position, std::span<float> k) {
    k[0] = position == 0 ? 0.0F : 1.0F;
  };
  input.read_value = [](std::size_t, std::int64_t, std::int64_t position, std::span<float> v) {
    v[0] = position == 0 ? 2.0F : -6.0F;
  };
  const Reference reference = block_attention_reference(input);
  ASSERT_EQ(reference.values.size(), 1U);
  EXPECT_NEAR(reference.values[0], -4.0, 1e-12);
  // sum p|v| is 5; -4 has the bf16 ulp 2^-5.
  EXPECT_NEAR(reference.tolerances[0], 5 * 0x1p-7 + 0x1p-6, 1e-12);
  EXPECT_EQ(reference.num_terms[0], 2);

  // Out of the window: the second key alone.
  input.window = 0;
  EXPECT_EQ(block_attention_reference(input).values[0], -6.0);
  EXPECT_EQ(block_attention_reference(input).num_terms[0], 1);
}

TEST(Reference, ToleranceOfZeroIsTheLeastHalfUlp) {
  ReferenceInput input = {.contexts = {0},
                          .width = 1,
                          .num_heads = 1,
                          .num_kv_heads = 1,
                          .dim = 1,
                          .window = 0,
                          .is_causal = true,
                          .scale = 1,
                          .read_query = {},
                          .read_key = {},
                          .read_value = {}};
  float value = 0;
  const auto read = [&](std::size_t, std::int64_t, std::int64_t, std::span<float> row) {
    row[0] = value;
  };
  input.read_query = read;
  input.read_key = read;
  input.read_value = read;
  EXPECT_EQ(block_attention_reference(input).tolerances[0], 0x1p-134);
  value = 0x1p-130F;
  EXPECT_EQ(block_attention_reference(input).tolerances[0], 0x1p-137 + 0x1p-134);
}

// From the tensors as a kernel finds them, without a maximum taken off: scores are small here.
double brute_force(const Inputs& inputs,
                   std::int64_t stream,
                   std::int64_t row,
                   std::int64_t head,
                   std::int64_t d) {
  const Shape& shape = inputs.shape();
  const std::int64_t n = inputs.context(stream);
  double sum = 0;
  double total = 0;
  for (std::int64_t position = 0; position < n + shape.width; ++position) {
    const bool is_visible =
        position < n ? n + row - position <= shape.window : !shape.is_causal || position - n <= row;
    if (!is_visible) {
      continue;
    }
    double dot = 0;
    for (std::int64_t i = 0; i < shape.dim; ++i) {
      dot += double{inputs.query(stream, head, row, i)} *
             double{inputs.key(stream, head / shape.group(), position, i)};
    }
    const double weight = std::exp(dot * shape.scale);
    total += weight;
    sum += weight * inputs.value(stream, head / shape.group(), position, d);
  }
  return sum / total;
}

TEST(Reference, AgreesWithBruteForceOverTheTensors) {
  for (const std::string causal : {"no", "yes"}) {
    for (const std::string dim : {"128", "256"}) {
      const Inputs inputs = make_inputs(workload_of({{"heads", "6"},
                                                     {"kv_heads", "2"},
                                                     {"dim", dim},
                                                     {"causal", causal},
                                                     {"width", "5"},
                                                     {"streams", "3"},
                                                     {"lengths", "edges"},
                                                     {"first_stream", "1"},
                                                     {"context", "60"},
                                                     {"window", "33"},
                                                     {"slack", "3"}}));
      const Reference reference = inputs.problem->reference(kOut);
      const std::int64_t width = std::stoll(dim);
      for (std::int64_t row = 0; row < 15; ++row) {
        for (std::int64_t head = 0; head < 6; ++head) {
          for (std::int64_t d = 0; d < width; d += 37) {
            const auto index = static_cast<std::size_t>((row * 6 + head) * width + d);
            const double expected = brute_force(inputs, row / 5, row % 5, head, d);
            ASSERT_NEAR(reference.values[index], expected, 1e-9 * (1 + std::fabs(expected)));
          }
        }
      }
    }
  }
}

// Zero queries and keys: the mean of the visible values, at every length.
TEST(Reference, OfZeroScoresIsTheMeanOfTheVisibleValues) {
  for (std::int64_t context = 0; context <= 257; context += 7) {
    for (const std::string causal : {"no", "yes"}) {
      const Inputs inputs = make_inputs(workload_of({{"heads", "1"},
                                                     {"kv_heads", "1"},
                                                     {"width", "2"},
                                                     {"data", "one_hot_v"},
                                                     {"causal", causal},
                                                     {"context", std::to_string(context)},
                                                     {"window", "100"}}));
      const Reference reference = inputs.problem->reference(kOut);
      for (std::int64_t row = 0; row < 2; ++row) {
        const std::int64_t first = std::max<std::int64_t>(0, context + row - 100);
        const std::int64_t end = context + (causal == "yes" ? row + 1 : 2);
        for (std::int64_t d = 0; d < 128; ++d) {
          std::int64_t count = 0;
          for (std::int64_t position = std::min(first, context); position < end; ++position) {
            count += position % 128 == d ? 1 : 0;
          }
          const auto index = static_cast<std::size_t>(row * 128 + d);
          ASSERT_DOUBLE_EQ(reference.values[index] * reference.num_terms[index],
                           static_cast<double>(count));
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::block_attention
