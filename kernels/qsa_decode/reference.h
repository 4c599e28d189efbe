// The float64 witness: textbook attention over the explicit list of visible cells, from values
// dequantised in double. It shares no arithmetic with the kernels.
#pragma once

#include "kernels/operator.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::kernels::qsa_decode {

// Dequantised values of one cell and KV head: [256].
using RowReader =
    std::function<void(std::int32_t cell, int kv_head, bool is_key, std::span<double, 256> values)>;

struct ReferenceInput {
  std::vector<float> q;                            // [num_queries, 24, 256]
  std::vector<std::vector<std::int32_t>> visible;  // cells of each query, in order, with repeats
  std::vector<std::int32_t> num_live_chunks;       // of each query: the length of the merge chain
  RowReader read_row;
};

Reference qsa_decode_reference(const ReferenceInput& input);

}  // namespace assay::kernels::qsa_decode
