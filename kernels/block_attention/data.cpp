#include "kernels/block_attention/data.h"

#include "kernels/attention/softmax.h"
#include "kernels/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace assay::kernels::block_attention {
namespace {

constexpr std::array<std::string_view, 3> kPartNames = {"q", "k", "v"};

std::uint64_t key_of(const BlockPlan& plan, Part part) {
  return make_key(plan.seed, kPartNames[static_cast<std::size_t>(part)]);
}

// Each row of a head has 256 places of its own.
std::uint64_t row_index(const Stream& stream, std::int32_t head, std::int64_t position) {
  const auto stream_head =
      static_cast<std::uint64_t>(stream.number) << 8 | static_cast<std::uint64_t>(head);
  return (stream_head << 23 | static_cast<std::uint64_t>(position)) << 8;
}

// Near the standard normal: the scaled sum of four 16-bit uniforms, in one rounding.
float near_normal(std::uint64_t key, std::uint64_t index) {
  const std::uint64_t word = random_word(key, index);
  const std::uint64_t sum =
      (word & 0xffffU) + (word >> 16 & 0xffffU) + (word >> 32 & 0xffffU) + (word >> 48);
  return static_cast<float>(static_cast<std::int32_t>(sum) - 131'070) * 0x1.bb67aep-16F;
}

void fill_normal(std::uint64_t key, std::uint64_t index, std::span<std::uint16_t> row) {
  for (std::size_t d = 0; d < row.size(); ++d) {
    row[d] = attention::to_bf16(near_normal(key, index + d));
  }
}

// ---- Planted keys ----

// A row's query looks along the directions of its own position; a planted key lies along those of
// the rows for which it matters. A hit adds about 11 to a score.
constexpr std::int64_t kCycle = 16;
constexpr std::int64_t kWindowDim = 0;       // 16 directions: the oldest key, and the one before it
constexpr std::int64_t kCausalDim = kCycle;  // 16 directions: the row's own key, and the next one
constexpr std::int64_t kSharedDim = 2 * kCycle;  // keys that every row looks for
constexpr float kQueryLength = 8.0F;

float key_length(std::int64_t dim) {
  return dim == 128 ? 16.0F : 22.0F;
}

bool is_for_all(std::int64_t context, std::int64_t position) {
  constexpr std::int64_t kSliceEdges[] = {127, 128, 383, 384, 511, 512};
  return position + 1 == context || std::ranges::find(kSliceEdges, position) != kSliceEdges + 6;
}

void plant(const BlockPlan& plan,
           Part part,
           const Stream& stream,
           std::int64_t position,
           std::span<std::uint16_t> row) {
  std::fill_n(row.begin(), kSharedDim + 1, std::uint16_t{0});
  const auto set = [&](std::int64_t dim, float value) {
    row[static_cast<std::size_t>(dim)] = attention::to_bf16(value);
  };
  const auto direction = [](std::int64_t first, std::int64_t of_position) {
    return first + ((of_position % kCycle) + kCycle) % kCycle;
  };
  if (part == Part::kQuery) {
    set(direction(kWindowDim, position), kQueryLength);
    set(direction(kCausalDim, position), kQueryLength);
    set(kSharedDim, kQueryLength);
    return;
  }
  const float length = key_length(plan.shape.dim);
  const std::int64_t context = stream.context;
  const std::int64_t window = plan.shape.window;
  if (position >= context) {
    set(direction(kCausalDim, position), length);
    set(direction(kCausalDim, position - 1), length);
  } else if (position >= context - window - 1 && position < context - window + kMostWidth) {
    set(direction(kWindowDim, position + window), length);
    set(direction(kWindowDim, position + window + 1), length);
  }
  if (is_for_all(context, position)) {
    set(kSharedDim, length);
  }
}

// ---- Scores of a chosen size: a query along the first direction, exact products ----

float query_for_constant(std::int64_t dim) {
  return dim == 128 ? -757'760.0F : -1'073'152.0F;
}

float large_level(Part part, std::uint64_t key, std::uint64_t index) {
  if (part == Part::kQuery) {
    return (random_word(key, index) & 1U) != 0 ? 196'608.0F : -196'608.0F;
  }
  return static_cast<float>(random_below(key, index, 16)) - 8.0F;
}

void fill_first(float value, std::span<std::uint16_t> row) {
  std::ranges::fill(row, std::uint16_t{0});
  row[0] = attention::to_bf16(value);
}

// ---- Values ----

// Subnormals of the upper quarter, columns of zeros of both signs, and normal numbers just above:
// an element's mean magnitude is 0 or far above the half ulp of its result.
std::uint16_t tiny_value(std::size_t d, std::uint16_t normal) {
  const auto sign = static_cast<std::uint16_t>(normal & 0x8000U);
  if (d % 16 == 7) {
    return sign;
  }
  if (d % 16 < 4) {
    return static_cast<std::uint16_t>(sign | 0x60U | (normal & 0x1fU));
  }
  const float magnitude = 1.0F + std::fabs(attention::from_bf16(normal));
  return static_cast<std::uint16_t>(sign | attention::to_bf16(magnitude * 0x1p-126F));
}

void scale_values(DataKind data, std::int64_t position, std::span<std::uint16_t> row) {
  for (std::size_t d = 0; d < row.size(); ++d) {
    if (data == DataKind::kTiny) {
      row[d] = tiny_value(d, row[d]);
    } else {
      const float value = attention::from_bf16(row[d]);
      row[d] = attention::to_bf16(position % 2 == 0 ? 64.0F + value : -64.0F + value);
    }
  }
}

void fill_value(const BlockPlan& plan,
                std::uint64_t index,
                std::int64_t position,
                std::span<std::uint16_t> row) {
  if (plan.data == DataKind::kOneHotV) {
    std::ranges::fill(row, std::uint16_t{0});
    row[static_cast<std::size_t>(position) % row.size()] = attention::to_bf16(1.0F);
    return;
  }
  fill_normal(key_of(plan, Part::kValue), index, row);
  if (plan.data == DataKind::kCancelling || plan.data == DataKind::kTiny) {
    scale_values(plan.data, position, row);
  }
}

}  // namespace

void fill_row(const BlockPlan& plan,
              Part part,
              const Stream& stream,
              std::int32_t head,
              std::int64_t position,
              std::span<std::uint16_t> row) {
  const std::uint64_t index = row_index(stream, head, position);
  if (part == Part::kValue) {
    return fill_value(plan, index, position, row);
  }
  const std::uint64_t key = key_of(plan, part);
  switch (plan.data) {
    case DataKind::kZeroQk:
    case DataKind::kOneHotV:
      std::ranges::fill(row, std::uint16_t{0});
      return;
    case DataKind::kLargeLogits:
      return fill_first(large_level(part, key, index), row);
    case DataKind::kConstantLogits:
      return fill_first(part == Part::kQuery ? query_for_constant(plan.shape.dim) : 1.0F, row);
    case DataKind::kNormal:
    case DataKind::kCancelling:
    case DataKind::kTiny:
      return fill_normal(key, index, row);
    case DataKind::kPlanted:
      fill_normal(key, index, row);
      return plant(plan, part, stream, position, row);
  }
}

void fill_unread(const BlockPlan& plan, std::int64_t first, std::span<std::uint16_t> elements) {
  const auto alternate = [&](std::uint16_t even, std::uint16_t odd) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = (static_cast<std::size_t>(first) + i) % 2 == 0 ? even : odd;
    }
  };
  switch (plan.unread) {
    case Filling::kNan:
      return alternate(0x7fc0U, 0xffffU);
    case Filling::kInf:
      return alternate(0x7f80U, 0xff80U);
    case Filling::kRandom:
      break;
  }
  // Any sign and fraction, any exponent but the last: finite.
  const std::uint64_t key = make_key(plan.seed, "unread");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t place = static_cast<std::uint64_t>(first) + i;
    elements[i] = static_cast<std::uint16_t>((random_word(key, place) & 0x807fU) |
                                             random_below(key, place, 255) << 7);
  }
}

}  // namespace assay::kernels::block_attention
