#include "kernels/tree_attention/tables.h"

#include <algorithm>
#include <cstddef>

namespace assay::kernels::tree_attention {
namespace {

// 1 / sqrt(dim), rounded to nearest.
float scale_of(std::int32_t dim) {
  return dim == 256 ? 0x1p-4F : 0x1.6a09e6p-4F;
}

// Keys lie in the order of the streams and values in the reverse, so that neither table serves for
// the other.
void place_caches(const Plan& plan, Tables& tables) {
  const std::int64_t per_key = std::int64_t{plan.num_kv_heads} * plan.dim;
  const std::size_t num_streams = plan.streams.size();
  tables.cache.resize(num_streams * 2);
  const auto place = [&](std::size_t tensor, bool is_reverse) {
    std::int64_t offset = plan.base_offset;
    for (std::size_t i = 0; i < num_streams; ++i) {
      const std::size_t stream = is_reverse ? num_streams - 1 - i : i;
      tables.cache[stream * 2 + tensor] = offset;
      offset += (plan.committed_of(plan.streams[stream]) + plan.slack) * per_key;
    }
    tables.cache_elements = offset;
  };
  place(0, false);
  place(1, true);
}

void append_rows(const StreamView& view, std::int32_t number, Tables& tables) {
  if (view.rows.empty()) {
    return;
  }
  const auto first_row = static_cast<std::int32_t>(tables.depths.size());
  const Paths made = *make_paths(view.parents, first_row);
  tables.paths.insert(tables.paths.end(), made.paths.begin(), made.paths.end());
  tables.depths.insert(tables.depths.end(), made.depths.begin(), made.depths.end());
  tables.row_streams.insert(tables.row_streams.end(), view.rows.size(), number);
}

}  // namespace

Tables make_tables(const Plan& plan) {
  Tables tables;
  Shape& shape = tables.shape;
  shape = {.num_streams = static_cast<std::int32_t>(plan.streams.size()),
           .num_heads = plan.num_heads,
           .num_kv_heads = plan.num_kv_heads,
           .dim = plan.dim,
           .scale = scale_of(plan.dim)};
  std::int64_t most_keys = plan.plan_keys;
  for (std::int32_t number = 0; number < shape.num_streams; ++number) {
    const StreamView& view = plan.streams[static_cast<std::size_t>(number)];
    const auto num_rows = static_cast<std::int32_t>(view.rows.size());
    const std::int32_t committed = plan.committed_of(view);
    const auto first_row = static_cast<std::int32_t>(tables.depths.size());
    tables.streams.insert(tables.streams.end(), {first_row, num_rows, committed});
    append_rows(view, number, tables);
    for (std::int32_t row = first_row; row < first_row + num_rows; ++row) {
      tables.row_keys.push_back(committed + tables.depths[static_cast<std::size_t>(row)]);
      most_keys = std::max<std::int64_t>(most_keys, tables.row_keys.back());
    }
    for (std::int32_t pair = 0; pair < num_rows * shape.group(); pair += attention::kTilePairs) {
      tables.tiles.insert(tables.tiles.end(), {number, pair});
    }
    shape.streams.push_back({num_rows, {0, committed}});
    shape.most_committed = std::max(shape.most_committed, committed);
  }
  shape.num_rows = static_cast<std::int32_t>(tables.depths.size());
  shape.num_groups = attention::num_groups_of(most_keys);
  shape.num_tiles = static_cast<std::int32_t>(tables.tiles.size() / 2);
  place_caches(plan, tables);
  return tables;
}

}  // namespace assay::kernels::tree_attention
