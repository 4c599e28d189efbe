// The pairs of calls that the invariances compare, and shorthand for making them.
#pragma once

#include "kernels/tree_attention/case_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::kernels::tree_attention {

using Pairs = std::vector<InvariancePair>;

// Other streams and rows of the call.
Pairs alone_equals_batch();
Pairs mixed_streams();
Pairs long_beside_short();
Pairs neighbour_varied();
Pairs streams_permuted();
Pairs rows_shifted();

// A key committed or on the path.
Pairs node_equals_serial();
Pairs chain_across_group_edge();
Pairs masked_equals_unmasked();
Pairs accepted_path();
Pairs tree_then_no_tree();

// Where the bytes lie and what lies beside them; calls before this one.
Pairs slack_and_garbage();
Pairs base_offset();
Pairs far_offsets();
Pairs padded_plan();
Pairs repeats();

// Launch shapes.
Pairs one_shared_block();
Pairs long_grid();
Pairs one_warp();
Pairs sm_count();

inline constexpr std::uint64_t kPairSeed = 3;

struct Size {
  std::int64_t rows;
  std::int64_t committed;
};

// Two calls by the arm at hand.
inline InvariancePair calls(std::string name, const Row& left, const Row& right) {
  return {.name = std::move(name),
          .left = workload_of(left, kPairSeed),
          .right = workload_of(right, kPairSeed)};
}

// One call by two arms.
inline InvariancePair arms(std::string name, const Row& row, std::string left, std::string right) {
  return {.name = std::move(name),
          .left = workload_of(row, kPairSeed),
          .right = workload_of(row, kPairSeed),
          .left_arm = std::move(left),
          .right_arm = std::move(right)};
}

inline Row sized(std::int64_t rows, std::int64_t committed) {
  return {{"rows", text_of(rows)}, {"committed", text_of(committed)}};
}

inline Row view(std::string_view kind, std::int64_t pick = 0) {
  return {{"view", std::string(kind)}, {"pick", text_of(pick)}};
}

inline std::string dim_text(const Row& geometry) {
  return absl::StrCat("dim=", geometry.back().second);
}

inline const Row& one_key_head() {
  static const Row row = {{"heads", "12"}, {"kv_heads", "1"}, {"dim", "128"}};
  return row;
}

inline Row two_streams(const Row& geometry) {
  return with(geometry,
              {{"streams", "2"},
               {"rows", "6"},
               {"committed", "700"},
               {"lengths", "edges"},
               {"tree", "binary"}});
}

}  // namespace assay::kernels::tree_attention
