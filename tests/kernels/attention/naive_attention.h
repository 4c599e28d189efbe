// The bit contract of kernels/attention/contract.h once more, in straight loops over one row and
// one head, without the functions that the kernels share: only the scalar tensor-core step and
// exp_bits() are theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace assay::kernels::attention {

struct NaiveState {
  float m = 0;
  float l = 0;  // 0: empty
  std::vector<float> o;
};

struct NaiveRow {
  std::vector<NaiveState> groups;  // by number, empty where the row sees nothing
  std::vector<float> result;
  std::vector<std::uint16_t> out;
};

// bf16 of the key or value at a position, `dim` of them.
using RowAt = std::function<const std::uint16_t*(std::int32_t position)>;

// Positions [begin, end), not empty.
NaiveRow naive_attention(const std::vector<std::uint16_t>& q,
                         float scale,
                         std::int32_t begin,
                         std::int32_t end,
                         const RowAt& key_at,
                         const RowAt& value_at);

}  // namespace assay::kernels::attention
