#include "kernels/block_attention/matched_rows.h"

#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/plan.h"
#include "kernels/block_attention/problem.h"

#include <algorithm>
#include <cstdint>

namespace assay::kernels::block_attention {
namespace {

struct RowPair {
  std::int64_t left = 0;
  std::int64_t right = 0;
  attention::KeyRange keys;
};

void match_streams(const BlockPlan& left,
                   std::size_t in_left,
                   const BlockPlan& right,
                   std::size_t in_right,
                   std::vector<RowPair>& pairs) {
  const std::int32_t left_context = left.streams[in_left].context;
  const std::int32_t right_context = right.streams[in_right].context;
  for (std::int32_t row = 0; row < left.shape.width; ++row) {
    const std::int32_t other = left_context + row - right_context;
    if (other < 0 || other >= right.shape.width) {
      continue;
    }
    const attention::KeyRange seen = visible_range(left.shape, left_context, row);
    const attention::KeyRange other_seen = visible_range(right.shape, right_context, other);
    if (seen.begin == other_seen.begin && seen.end == other_seen.end) {
      pairs.push_back({.left = static_cast<std::int64_t>(in_left) * left.shape.width + row,
                       .right = static_cast<std::int64_t>(in_right) * right.shape.width + other,
                       .keys = seen});
    }
  }
}

std::vector<RowPair> match_rows(const BlockPlan& left, const BlockPlan& right) {
  std::vector<RowPair> pairs;
  for (std::size_t i = 0; i < left.streams.size(); ++i) {
    for (std::size_t j = 0; j < right.streams.size(); ++j) {
      if (left.streams[i].number == right.streams[j].number) {
        match_streams(left, i, right, j, pairs);
      }
    }
  }
  return pairs;
}

}  // namespace

std::vector<RangePair> matched_rows(const Problem& left_problem,
                                    const Problem& right_problem,
                                    std::size_t tensor) {
  const BlockPlan& left = static_cast<const PlannedProblem&>(left_problem).plan();
  const BlockPlan& right = static_cast<const PlannedProblem&>(right_problem).plan();
  const bool is_partial = tensor == kPartialM || tensor == kPartialL || tensor == kPartialO;
  const std::int64_t per_head = tensor == kPartialM || tensor == kPartialL ? 1 : left.shape.dim;
  const std::int64_t left_row = left.shape.num_heads * per_head;
  const std::int64_t right_row = right.shape.num_heads * per_head;
  std::vector<RangePair> ranges;
  const auto match = [&](std::int64_t left_place, std::int64_t right_place) {
    const std::int64_t begin = left_place * left_row;
    ranges.push_back({.left = {.begin = begin, .end = begin + std::min(left_row, right_row)},
                      .right_begin = right_place * right_row});
  };
  for (const RowPair& pair : match_rows(left, right)) {
    if (!is_partial) {
      match(pair.left, pair.right);
      continue;
    }
    const std::int64_t end = attention::num_groups_of(pair.keys.end);
    for (std::int64_t group = pair.keys.begin / attention::kGroupKeys; group < end; ++group) {
      match(group * left.shape.num_rows() + pair.left, group * right.shape.num_rows() + pair.right);
    }
  }
  return ranges;
}

}  // namespace assay::kernels::block_attention
