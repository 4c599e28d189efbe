// What the cpu's attend stage does at a time, one group of a key head for a tile of a stream's
// pairs, and the tile of pairs and keys that the engine takes for it.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/mutation.h"

#include "absl/status/status.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay::kernels::block_attention {

// INVALID_ARGUMENT names the table's entry that leads outside the call's tensors. What follows
// requires tables that are in order.
absl::Status check_tables(const Call& call);

struct AttendTask {
  std::int32_t stream = 0;
  std::int32_t kv_head = 0;
  std::int32_t group = 0;
  // Pairs of the stream: row * G + head in group.
  std::int32_t first_pair = 0;
  std::int32_t num_pairs = 0;
};

template <Mutation kMutation>
struct TileMaker {
  const Params& params;
  const Shape& shape;
  std::int64_t context_elements;

  attention::KeyRange keys_of(std::int32_t stream, std::int32_t row) const {
    const std::int32_t context = params.lengths[stream];
    attention::KeyRange keys = visible_range(shape, context, row);
    if constexpr (kMutation == Mutation::kWindowOffByOne) {
      keys.begin = std::max(keys.begin - 1, 0);
    }
    if constexpr (kMutation == Mutation::kCausalOffByOne) {
      keys.end = std::min(keys.end + 1, context + shape.width);
    }
    return keys;
  }

  // Groups that no row of a tile sees are not in it.
  std::vector<AttendTask> tasks(std::int32_t pairs_per_tile) const {
    std::vector<AttendTask> all;
    const std::int32_t num_pairs = shape.width * shape.group();
    AttendTask task;
    for (task.stream = 0; task.stream < shape.num_streams; ++task.stream) {
      for (task.kv_head = 0; task.kv_head < shape.num_kv_heads; ++task.kv_head) {
        for (task.first_pair = 0; task.first_pair < num_pairs; task.first_pair += pairs_per_tile) {
          task.num_pairs = std::min(pairs_per_tile, num_pairs - task.first_pair);
          const std::int32_t first_row = task.first_pair / shape.group();
          const std::int32_t last_row = (task.first_pair + task.num_pairs - 1) / shape.group();
          const std::int32_t end = attention::num_groups_of(keys_of(task.stream, last_row).end);
          for (task.group = keys_of(task.stream, first_row).begin / attention::kGroupKeys;
               task.group < end;
               ++task.group) {
            all.push_back(task);
          }
        }
      }
    }
    return all;
  }

  void make(const AttendTask& task, attention::GroupTile* tile) const {
    tile->dim = shape.dim;
    tile->scale = params.scale;
    if constexpr (kMutation == Mutation::kScaleOffBySixteenth) {
      tile->scale = params.scale * 1.0625F;
    }
    const std::int32_t first = task.group * attention::kGroupKeys;
    attention::KeyRange all = {.begin = attention::kGroupKeys, .end = 0};
    tile->num_pairs = 0;
    for (std::int32_t pair = 0; pair < task.num_pairs; ++pair) {
      const attention::TilePair made = make_pair(task, task.first_pair + pair, first);
      if (made.keys.begin < made.keys.end) {
        tile->pairs[tile->num_pairs++] = made;
        all.begin = std::min(all.begin, made.keys.begin);
        all.end = std::max(all.end, made.keys.end);
      }
    }
    make_keys(task, first, all, tile);
  }

 private:
  attention::TilePair make_pair(const AttendTask& task,
                                std::int32_t pair,
                                std::int32_t first) const {
    const std::int32_t row = pair / shape.group();
    std::int32_t head = task.kv_head * shape.group() + pair % shape.group();
    if constexpr (kMutation == Mutation::kWrongHeadMap) {
      head = pair % shape.group() * shape.num_kv_heads + task.kv_head;
    }
    const attention::KeyRange keys = keys_of(task.stream, row);
    const std::int64_t call_row = std::int64_t{task.stream} * shape.width + row;
    const std::int64_t state =
        (std::int64_t{task.group} * shape.num_rows() + call_row) * shape.num_heads + head;
    return {.q = params.q + (std::int64_t{head} * shape.num_rows() + call_row) * shape.dim,
            .keys = {.begin = std::clamp(keys.begin - first, 0, attention::kGroupKeys),
                     .end = std::clamp(keys.end - first, 0, attention::kGroupKeys)},
            .m = params.partial_m + state,
            .l = params.partial_l + state,
            .o = params.partial_o + state * shape.dim};
  }

  void make_keys(const AttendTask& task,
                 std::int32_t first,
                 attention::KeyRange all,
                 attention::GroupTile* tile) const {
    for (std::int32_t key = 0; key < attention::kGroupKeys; ++key) {
      const bool is_seen = key >= all.begin && key < all.end;
      tile->k[key] = is_seen ? row_of(task, first + key, false) : nullptr;
      tile->v[key] = is_seen ? row_of(task, first + key, true) : nullptr;
    }

    if constexpr (kMutation == Mutation::kReadsNextTile) {
      constexpr std::int32_t kTile = attention::kStepKeys;
      for (std::int32_t key = all.begin; key + kTile < all.end; ++key) {
        tile->v[key] = tile->v[key + kTile];
      }
    }
    if constexpr (kMutation == Mutation::kKeepsMaskedValues) {
      for (std::int32_t key = all.begin; key % attention::kStepKeys != 0; --key) {
        tile->v[key - 1] = row_of(task, first + key - 1, true);
      }
    }
  }

  // The key or value at a position of the stream; null where a mutant looks past the buffer's end.
  const std::uint16_t* row_of(const AttendTask& task, std::int32_t position, bool is_value) const {
    const std::int32_t context = params.lengths[task.stream];
    if (position >= context) {
      const std::int64_t row = std::int64_t{task.kv_head} * shape.num_rows() +
                               task.stream * shape.width + position - context;
      return (is_value ? params.v_block : params.k_block) + row * shape.dim;
    }
    std::int64_t stream = task.stream;
    if constexpr (kMutation == Mutation::kReadsNeighbourContext) {
      stream = (stream + 1) % shape.num_streams;
    }
    const std::int64_t* entry = params.table + stream * 3;
    const std::int64_t offset =
        entry[is_value ? 1 : 0] + task.kv_head * entry[2] + std::int64_t{position} * shape.dim;
    if constexpr (kMutation == Mutation::kReadsNeighbourContext) {
      if (offset > context_elements - shape.dim) {
        return nullptr;
      }
    }
    return (is_value ? params.v_context : params.k_context) + offset;
  }
};

}  // namespace assay::kernels::block_attention
