// The bytes of queries, keys and values: bf16 rows of one head, each a pure function of the plan's
// kind of data, its seed and the row's identity in the whole problem. A view never shows in them.
#pragma once

#include "kernels/tree_attention/plan.h"

#include <cstdint>
#include <span>

namespace assay::kernels::tree_attention {

// A key of a stream of the whole problem: a committed one by its position, or a drafted one by its
// row.
struct KeyId {
  std::int32_t stream = 0;
  std::int32_t index = 0;
  bool is_drafted = false;
};

// Each writes `dim` values.
void fill_query(const Plan& plan,
                std::int32_t stream,
                std::int32_t row,
                std::int32_t head,
                std::span<std::uint16_t> values);
void fill_key(const Plan& plan,
              const KeyId& key,
              std::int32_t kv_head,
              std::span<std::uint16_t> values);
void fill_value(const Plan& plan,
                const KeyId& key,
                std::int32_t kv_head,
                std::span<std::uint16_t> values);

// Cache entries from element `begin` on that no row may read.
void fill_unread(const Plan& plan, std::int64_t begin, std::span<std::uint16_t> values);

}  // namespace assay::kernels::tree_attention
