// The float64 witness: textbook attention. Which keys a row sees is decided key by key from the
// definition; nothing is shared with the kernels.
#pragma once

#include "kernels/operator.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::kernels::block_attention {

struct ReferenceInput {
  std::vector<std::int32_t> contexts;  // keys of each stream
  std::int64_t width = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t dim = 0;
  std::int64_t window = 0;
  bool is_causal = false;
  double scale = 0;

  // Values at a position of a stream: [dim]. Called from several threads.
  using RowReader = std::function<void(
      std::size_t stream, std::int64_t head, std::int64_t position, std::span<float> values)>;
  RowReader read_query;  // of a query head
  RowReader read_key;    // of a key head
  RowReader read_value;
};

// Of out[R, H * D]. The tolerance of an element is 2^-7 * sum p|v| / sum p and half a bf16 ulp of
// the value.
Reference block_attention_reference(const ReferenceInput& input);

}  // namespace assay::kernels::block_attention
