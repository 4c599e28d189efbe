// The shape and the integer inputs of a call, made from its plan.
#pragma once

#include "kernels/tree_attention/plan.h"

#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {

struct Tables {
  Shape shape = {};
  std::vector<std::int64_t> cache;        // [S, 2]
  std::vector<std::int32_t> streams;      // [S, 3]
  std::vector<std::int32_t> row_streams;  // [W]
  std::vector<std::int32_t> paths;        // [W, 128]
  std::vector<std::int32_t> depths;       // [W]
  std::vector<std::int32_t> tiles;        // [T, 2]
  std::vector<std::int32_t> row_keys;     // [W]: how many keys each row sees
  std::int64_t cache_elements = 0;        // of K, and of V
};

Tables make_tables(const Plan& plan);

}  // namespace assay::kernels::tree_attention
