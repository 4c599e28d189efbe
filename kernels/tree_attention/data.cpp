#include "kernels/tree_attention/data.h"

#include "kernels/attention/softmax.h"
#include "kernels/inputs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace assay::kernels::tree_attention {
namespace {

using attention::from_bf16;
using attention::to_bf16;

constexpr std::size_t kValuesPerWord = 4;

// Planted keys are heard by the rows that listen to their place: a query is large at one of these
// places and zero at the others.
constexpr std::int32_t kListeningPlaces = 32;
constexpr float kListeningQuery = 8.0F;
constexpr float kPlantedKey = 32.0F;

constexpr float kLargeQuery = 256.0F;
constexpr float kLargeKeyStep = 2'048.0F;  // scores differ by thousands or not at all
constexpr int kLargeLevels = 4;            // on either side of zero
constexpr float kConstantQuery = -1'024.0F;
constexpr float kConstantKey = 1'048.0F;

// Near normal, one of 2^16 that are drawn once.
std::uint16_t normal_of(std::uint64_t bits) {
  static const auto table = [] {
    auto drawn = std::make_unique<std::array<std::uint16_t, 65'536>>();
    const std::uint64_t key = make_key(0, "tree_attention normals");
    for (std::size_t i = 0; i < drawn->size(); ++i) {
      (*drawn)[i] = to_bf16(random_normal(key, i));
    }
    return drawn;
  }();
  return (*table)[bits & 0xffffU];
}

struct RowKey {
  std::uint64_t key;
  std::uint64_t first_word;

  std::uint64_t word(std::size_t index) const { return random_word(key, first_word + index); }
};

RowKey row_key(const Plan& plan,
               std::string_view tensor,
               std::int32_t stream,
               std::int64_t row,
               std::int32_t num_heads,
               std::int32_t head) {
  const auto place = static_cast<std::uint64_t>(row * num_heads + head);
  return {.key = random_word(make_key(plan.seed, tensor), static_cast<std::uint64_t>(stream)),
          .first_word = place * static_cast<std::uint64_t>(plan.dim) / kValuesPerWord};
}

void fill_normal(const RowKey& row, std::span<std::uint16_t> values) {
  for (std::size_t i = 0; i < values.size(); i += kValuesPerWord) {
    const std::uint64_t word = row.word(i / kValuesPerWord);
    for (std::size_t part = 0; part < kValuesPerWord; ++part) {
      values[i + part] = normal_of(word >> (16 * part));
    }
  }
}

void scale_values(std::span<std::uint16_t> values, float factor) {
  for (std::uint16_t& value : values) {
    value = to_bf16(from_bf16(value) * factor);
  }
}

void zero(std::span<std::uint16_t> values) {
  std::ranges::fill(values, std::uint16_t{0});
}

std::size_t listening_place(std::int32_t row) {
  return static_cast<std::size_t>(row % kListeningPlaces);
}

std::int32_t root_of(const Stream& stream, std::int32_t row) {
  while (stream.parents[static_cast<std::size_t>(row)] >= 0) {
    row = stream.parents[static_cast<std::size_t>(row)];
  }
  return row;
}

// The first and last committed keys, one that begins a fourth slice, and a group's border.
bool is_planted(const Stream& stream, std::int32_t key) {
  return key == 0 || key == 3 * attention::kSliceKeys || key == attention::kGroupKeys - 1 ||
         key == attention::kGroupKeys || key == stream.committed - 1;
}

// A drafted key is heard by its own row, its children, and where it is a root by all below it.
void plant_key(const Plan& plan, const KeyId& key, std::span<std::uint16_t> values) {
  const Stream& stream = plan.whole[static_cast<std::size_t>(key.stream)];
  const std::span<std::uint16_t> heard = values.first(kListeningPlaces);
  zero(heard);
  if (!key.is_drafted) {
    if (is_planted(stream, key.index)) {
      zero(values);
      std::ranges::fill(heard, to_bf16(kPlantedKey));
    }
    return;
  }
  zero(values);
  for (std::int32_t row = key.index; row < std::ssize(stream.parents); ++row) {
    if (row == key.index || stream.parents[static_cast<std::size_t>(row)] == key.index ||
        root_of(stream, row) == key.index) {
      heard[listening_place(row)] = to_bf16(kPlantedKey);
    }
  }
}

}  // namespace

void fill_query(const Plan& plan,
                std::int32_t stream,
                std::int32_t row,
                std::int32_t head,
                std::span<std::uint16_t> values) {
  if (plan.data == DataKind::kZeroQk) {
    zero(values);
    return;
  }
  fill_normal(row_key(plan, "q", stream, row, plan.num_heads, head), values);
  switch (plan.data) {
    case DataKind::kPlanted:
      zero(values.first(kListeningPlaces));
      values[listening_place(row)] = to_bf16(kListeningQuery);
      return;
    case DataKind::kLargeLogits:
      values[0] = to_bf16(kLargeQuery);
      return;
    case DataKind::kConstantLogits:
      values[0] = to_bf16(kConstantQuery);
      return;
    case DataKind::kCancelling:
      scale_values(values, 8.0F);
      for (std::size_t i = 0; i < values.size(); i += 2) {
        values[i + 1] = values[i];
      }
      return;
    default:
      return;
  }
}

void fill_key(const Plan& plan,
              const KeyId& key,
              std::int32_t kv_head,
              std::span<std::uint16_t> values) {
  if (plan.data == DataKind::kZeroQk) {
    zero(values);
    return;
  }
  const RowKey row = row_key(plan,
                             key.is_drafted ? "k_rows" : "k_cache",
                             key.stream,
                             key.index,
                             plan.num_kv_heads,
                             kv_head);
  switch (plan.data) {
    case DataKind::kLargeLogits: {
      zero(values);
      const auto level = static_cast<int>(row.word(0) % (2 * kLargeLevels + 1)) - kLargeLevels;
      values[0] = to_bf16(static_cast<float>(level) * kLargeKeyStep);
      return;
    }
    case DataKind::kConstantLogits:
      zero(values);
      values[0] = to_bf16(kConstantKey);
      return;
    case DataKind::kPlanted:
      fill_normal(row, values);
      plant_key(plan, key, values);
      return;
    case DataKind::kCancelling:
      fill_normal(row, values);
      // A pair's large parts cancel in the product with a query's equal pair.
      for (std::size_t i = 0; i < values.size(); i += 2) {
        const float large = from_bf16(values[i]) * 8.0F;
        values[i] = to_bf16(large);
        values[i + 1] = to_bf16(from_bf16(values[i + 1]) * 0.25F - large);
      }
      return;
    default:
      fill_normal(row, values);
      return;
  }
}

void fill_value(const Plan& plan,
                const KeyId& key,
                std::int32_t kv_head,
                std::span<std::uint16_t> values) {
  const Stream& stream = plan.whole[static_cast<std::size_t>(key.stream)];
  // Of its own for each key of the stream, siblings included.
  const std::int32_t number = key.index + (key.is_drafted ? stream.committed : 0);
  const RowKey row = row_key(plan,
                             key.is_drafted ? "v_rows" : "v_cache",
                             key.stream,
                             key.index,
                             plan.num_kv_heads,
                             kv_head);
  if (plan.data == DataKind::kOneHotV) {
    zero(values);
    values[static_cast<std::size_t>(number % plan.dim)] = to_bf16(1.0F);
    return;
  }
  fill_normal(row, values);
  if (plan.data == DataKind::kCancelling) {
    for (std::uint16_t& value : values) {
      value = to_bf16(from_bf16(value) + (number % 2 == 0 ? 256.0F : -256.0F));
    }
  } else if (plan.data == DataKind::kTiny) {
    // Zeros of both signs at every eighth place, else below the normal range but far from zero.
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t word = row.word(i / kValuesPerWord) >> (16 * (i % kValuesPerWord));
      values[i] =
          static_cast<std::uint16_t>(i % 8 == 0 ? word & 0x8000U : (word & 0x803fU) | 0x40U);
    }
  }
}

void fill_unread(const Plan& plan, std::int64_t begin, std::span<std::uint16_t> values) {
  constexpr std::uint16_t kNanBits = 0x7fc0;
  constexpr std::uint16_t kInfBits = 0x7f80;
  if (plan.unread == Unread::kNan) {
    std::ranges::fill(values, kNanBits);
    return;
  }
  const std::uint64_t key = make_key(plan.seed, "unread");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t word = random_word(key, static_cast<std::uint64_t>(begin) + i);
    const auto sign = static_cast<std::uint16_t>(word & 0x8000U);
    // Random ones are finite, with exponents up to the largest.
    const auto magnitude = static_cast<std::uint16_t>((word >> 16) % kInfBits);
    const std::uint16_t bits = plan.unread == Unread::kInf ? kInfBits : magnitude;
    values[i] = static_cast<std::uint16_t>(sign | bits);
  }
}

}  // namespace assay::kernels::tree_attention
