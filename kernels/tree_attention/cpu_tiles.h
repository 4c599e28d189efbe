// From a task to the tile of pairs and keys that the engine takes: where each pair's q, keys and
// group state lie.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/cpu_tasks.h"
#include "kernels/tree_attention/mutation.h"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::tree_attention {

template <Mutation kMutation>
struct TileMaker {
  using Tasks = AttendTasks<kMutation>;

  const Params& params;
  std::int32_t dim;
  std::int64_t cache_elements;

  void make(const AttendTask& task, attention::GroupTile* tile) const {
    const StreamEntry stream = entry_of(params, task.stream);
    tile->dim = dim;
    tile->num_pairs = task.num_pairs;
    tile->scale = params.scale;
    if constexpr (kMutation == Mutation::kScaleOffBySixteenth) {
      tile->scale = params.scale * 1.0625F;
    }
    const std::int32_t first = task.group * attention::kGroupKeys;
    attention::KeyRange all = {.begin = attention::kGroupKeys, .end = 0};
    for (std::int32_t pair = 0; pair < task.num_pairs; ++pair) {
      const attention::TilePair& made = tile->pairs[pair] =
          make_pair(task, stream, task.first_pair + pair, first);
      all.begin = std::min(all.begin, made.keys.begin);
      all.end = std::max(all.end, made.keys.end);
    }
    make_keys(task, stream, all, tile);
  }

  // The place of (row, head) in the states of a group.
  std::int64_t state_of(std::int32_t row, std::int32_t head) const {
    return std::int64_t{row} * params.num_heads + head;
  }

 private:
  attention::TilePair make_pair(const AttendTask& task,
                                const StreamEntry& stream,
                                std::int32_t pair,
                                std::int32_t first) const {
    const std::int32_t heads = params.num_heads / params.num_kv_heads;
    const std::int32_t row = stream.first_row + pair / heads;
    std::int32_t head = task.kv_head * heads + pair % heads;
    if constexpr (kMutation == Mutation::kWrongHeadMap) {
      head = pair % heads * params.num_kv_heads + task.kv_head;
    }
    const attention::KeyRange keys = Tasks::keys_of(params, stream, row);
    const std::int64_t state =
        std::int64_t{task.group} * params.num_rows * params.num_heads + state_of(row, head);
    return {.q = params.q + state_of(row, head) * dim,
            .keys = {.begin = std::clamp(keys.begin - first, 0, attention::kGroupKeys),
                     .end = std::clamp(keys.end - first, 0, attention::kGroupKeys)},
            .m = params.partial_m + state,
            .l = params.partial_l + state,
            .o = params.partial_o + state * dim};
  }

  void make_keys(const AttendTask& task,
                 const StreamEntry& stream,
                 attention::KeyRange all,
                 attention::GroupTile* tile) const {
    const std::int32_t row =
        stream.first_row + task.first_pair / (params.num_heads / params.num_kv_heads);
    const std::int32_t first =
        task.group * attention::kGroupKeys - Tasks::shift_of(stream.committed);
    for (std::int32_t key = 0; key < attention::kGroupKeys; ++key) {
      const bool is_seen = key >= all.begin && key < all.end;
      tile->k[key] = is_seen ? row_of(task, stream, row, first + key, false) : nullptr;
      tile->v[key] = is_seen ? row_of(task, stream, row, first + key, true) : nullptr;
    }

    if constexpr (kMutation == Mutation::kReadsNextTile) {
      constexpr std::int32_t kTile = attention::kStepKeys;
      for (std::int32_t key = all.begin; key + kTile < all.end; ++key) {
        tile->v[key] = tile->v[key + kTile];
      }
    }
    if constexpr (kMutation == Mutation::kKeepsMaskedValues) {
      for (std::int32_t key = all.end; key % attention::kStepKeys != 0; ++key) {
        tile->v[key] = cached(task, first + key, true);
      }
    }
  }

  // The key or value at a position that the row sees.
  const std::uint16_t* row_of(const AttendTask& task,
                              const StreamEntry& stream,
                              std::int32_t row,
                              std::int32_t position,
                              bool is_value) const {
    std::int32_t num_cached = stream.committed;
    if constexpr (kMutation == Mutation::kReadsPastCommitted) {
      num_cached += 1;
    }
    if (position < num_cached) {
      return cached(task, position, is_value);
    }
    const std::int32_t ancestor =
        params.paths[std::int64_t{row} * kMostDepth + position - stream.committed];
    const std::int64_t at = std::int64_t{ancestor} * params.num_kv_heads + task.kv_head;
    return (is_value ? params.v_rows : params.k_rows) + at * dim;
  }

  // Null where a mutant looks past the cache's end.
  const std::uint16_t* cached(const AttendTask& task, std::int32_t position, bool is_value) const {
    std::int64_t stream = task.stream;
    if constexpr (kMutation == Mutation::kReadsNeighbourCache) {
      stream = (stream + 1) % params.num_streams;
    }
    const std::int64_t offset = params.cache_table[stream * 2 + (is_value ? 1 : 0)] +
                                (std::int64_t{position} * params.num_kv_heads + task.kv_head) * dim;
    if constexpr (kMutation != Mutation::kNone) {
      if (offset > cache_elements - dim) {
        return nullptr;
      }
    }
    return (is_value ? params.v_cache : params.k_cache) + offset;
  }
};

}  // namespace assay::kernels::tree_attention
