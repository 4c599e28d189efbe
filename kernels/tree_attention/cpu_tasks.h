// What the cpu's attend stage does at a time: one group of a key head, for a tile of a stream's
// pairs where the group is committed, else for one row.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/mutation.h"

#include "absl/status/status.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {

// INVALID_ARGUMENT names the table's entry that leads outside the call's tensors. What follows
// requires tables that are in order.
absl::Status check_tables(const Call& call);

struct AttendTask {
  std::int32_t stream = 0;
  std::int32_t kv_head = 0;
  std::int32_t group = 0;
  // Pairs of the stream: local row * G + head in group.
  std::int32_t first_pair = 0;
  std::int32_t num_pairs = 0;
  bool is_committed = false;
};

struct StreamEntry {
  std::int32_t first_row = 0;
  std::int32_t num_rows = 0;
  std::int32_t committed = 0;
};

inline StreamEntry entry_of(const Params& params, std::int32_t stream) {
  const std::int32_t* entry = params.stream_table + std::int64_t{stream} * 3;
  return {.first_row = entry[0], .num_rows = entry[1], .committed = entry[2]};
}

template <Mutation kMutation>
struct AttendTasks {
  // Positions that a mutant puts before position 0.
  static std::int32_t shift_of(std::int32_t committed) {
    constexpr std::int32_t kKeys = attention::kGroupKeys;
    if constexpr (kMutation == Mutation::kGroupsAnchoredAtCommitted) {
      return (kKeys - committed % kKeys) % kKeys;
    }
    return 0;
  }

  // What a row sees, from the positions that groups are counted in.
  static attention::KeyRange keys_of(const Params& params,
                                     const StreamEntry& stream,
                                     std::int32_t row) {
    std::int32_t depth = params.depths[row];
    if constexpr (kMutation == Mutation::kCutsPaths) {
      depth = std::min(depth, 3);
    }
    const std::int32_t shift = shift_of(stream.committed);
    return {.begin = shift, .end = shift + stream.committed + depth};
  }

  static std::vector<AttendTask> all(const Params& params, std::int32_t pairs_per_tile) {
    std::vector<AttendTask> tasks;
    for (std::int32_t stream = 0; stream < params.num_streams; ++stream) {
      for (std::int32_t kv_head = 0; kv_head < params.num_kv_heads; ++kv_head) {
        add(params, stream, kv_head, pairs_per_tile, &tasks);
      }
    }
    return tasks;
  }

 private:
  static void add(const Params& params,
                  std::int32_t number,
                  std::int32_t kv_head,
                  std::int32_t pairs_per_tile,
                  std::vector<AttendTask>* tasks) {
    const StreamEntry stream = entry_of(params, number);
    const std::int32_t heads = params.num_heads / params.num_kv_heads;
    const std::int32_t num_pairs = stream.num_rows * heads;
    const std::int32_t num_committed =
        (stream.committed + shift_of(stream.committed)) / attention::kGroupKeys;

    AttendTask task = {.stream = number, .kv_head = kv_head, .is_committed = true};
    for (task.group = 0; task.group < num_committed; ++task.group) {
      for (task.first_pair = 0; task.first_pair < num_pairs; task.first_pair += pairs_per_tile) {
        task.num_pairs = std::min(pairs_per_tile, num_pairs - task.first_pair);
        tasks->push_back(task);
      }
    }
    // What is not committed differs from row to row.
    task.is_committed = false;
    task.num_pairs = heads;
    for (std::int32_t row = 0; row < stream.num_rows; ++row) {
      const attention::KeyRange keys = keys_of(params, stream, stream.first_row + row);
      task.first_pair = row * heads;
      for (task.group = num_committed; task.group < attention::num_groups_of(keys.end);
           ++task.group) {
        tasks->push_back(task);
      }
    }
  }
};

}  // namespace assay::kernels::tree_attention
