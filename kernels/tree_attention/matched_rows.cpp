#include "kernels/tree_attention/problem.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace assay::kernels::tree_attention {
namespace {

struct RowPair {
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t num_groups = 0;
};

std::vector<RowPair> pair_rows(const ViewProblem& left, const ViewProblem& right) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
  for (std::size_t row = 0; row < right.row_ids().size(); ++row) {
    const RowId& id = right.row_ids()[row];
    places.emplace(std::pair(id.stream, id.row), row);
  }
  std::vector<RowPair> pairs;
  for (std::size_t row = 0; row < left.row_ids().size(); ++row) {
    const RowId& id = left.row_ids()[row];
    const auto found = places.find({id.stream, id.row});
    if (found != places.end()) {
      // A row sees the same number of keys in every view.
      pairs.push_back({.left = static_cast<std::int64_t>(row),
                       .right = static_cast<std::int64_t>(found->second),
                       .num_groups = attention::num_groups_of(left.row_keys()[row])});
    }
  }
  return pairs;
}

// Neighbours on both sides become one range.
void append(std::int64_t left, std::int64_t right, std::int64_t size, std::vector<RangePair>& all) {
  if (!all.empty() && all.back().left.end == left &&
      all.back().right_begin + all.back().left.end - all.back().left.begin == right) {
    all.back().left.end += size;
    return;
  }
  all.push_back({.left = {.begin = left, .end = left + size}, .right_begin = right});
}

}  // namespace

std::vector<RangePair> matched_rows(const Problem& left, const Problem& right, std::size_t tensor) {
  const auto& left_view = static_cast<const ViewProblem&>(left);
  const auto& right_view = static_cast<const ViewProblem&>(right);
  const Shape& shape = left_view.shape();
  const bool has_dims = tensor == kOut || tensor == kResult || tensor == kPartialO;
  const std::int64_t per_row = std::int64_t{shape.num_heads} * (has_dims ? shape.dim : 1);
  const std::vector<RowPair> rows = pair_rows(left_view, right_view);
  std::vector<RangePair> ranges;
  if (tensor == kOut || tensor == kResult) {
    for (const RowPair& row : rows) {
      append(row.left * per_row, row.right * per_row, per_row, ranges);
    }
    return ranges;
  }
  const std::int64_t num_groups = std::min(shape.num_groups, right_view.shape().num_groups);
  for (std::int64_t group = 0; group < num_groups; ++group) {
    for (const RowPair& row : rows) {
      if (group < row.num_groups) {
        append((group * shape.num_rows + row.left) * per_row,
               (group * right_view.shape().num_rows + row.right) * per_row,
               per_row,
               ranges);
      }
    }
  }
  return ranges;
}

}  // namespace assay::kernels::tree_attention
