#include "profiler/matched_tensors.h"

#include "profiler/checked_call.h"
#include "profiler/poison.h"
#include "profiler/tensor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::profiler {
namespace {

// Whether all of [begin, end) is live; touching ranges count as one.
bool is_live(const TensorLayout& layout, std::int64_t begin, std::int64_t end) {
  auto range = std::ranges::upper_bound(layout.live, begin, {}, &ElementRange::begin);
  if (range == layout.live.begin()) {
    return begin == end;
  }
  --range;
  while (range != layout.live.end() && range->begin <= begin && begin < end) {
    begin = std::max(begin, range->end);
    ++range;
  }
  return begin >= end;
}

// Everything that is live on the left, at the same places on the right.
std::vector<kernels::RangePair> same_places(const TensorLayout& layout) {
  std::vector<kernels::RangePair> pairs;
  for (const ElementRange& range : layout.live) {
    pairs.push_back({.left = {.begin = range.begin, .end = range.end}, .right_begin = range.begin});
  }
  return pairs;
}

bool has_same_live(const TensorLayout& left, const TensorLayout& right) {
  return std::ranges::equal(left.live, right.live, [](const auto& a, const auto& b) {
    return a.begin == b.begin && a.end == b.end;
  });
}

absl::Status not_live(const std::string& tensor,
                      std::int64_t begin,
                      std::int64_t end,
                      const char* side) {
  return absl::InternalError(absl::StrCat("matched elements [",
                                          begin,
                                          ", ",
                                          end,
                                          ") of `",
                                          tensor,
                                          "` are not all live in the ",
                                          side,
                                          " call"));
}

absl::StatusOr<std::vector<MatchedRange>> ranges_of(const std::vector<kernels::RangePair>& pairs,
                                                    const TensorLayout& left,
                                                    const TensorLayout& right) {
  std::vector<MatchedRange> ranges;
  for (const kernels::RangePair& pair : pairs) {
    const std::int64_t count = pair.left.end - pair.left.begin;
    if (count < 0 || !is_live(left, pair.left.begin, pair.left.end)) {
      return not_live(left.name, pair.left.begin, pair.left.end, "left");
    }
    if (!is_live(right, pair.right_begin, pair.right_begin + count)) {
      return not_live(right.name, pair.right_begin, pair.right_begin + count, "right");
    }
    if (count > 0) {
      ranges.push_back(
          {.begin = pair.left.begin, .end = pair.left.end, .found_begin = pair.right_begin});
    }
  }
  return ranges;
}

}  // namespace

absl::StatusOr<MatchedTensors> MatchedTensors::make(const kernels::Invariance& invariance,
                                                    const kernels::Problem& left,
                                                    std::span<const ComparedTensor> left_tensors,
                                                    const kernels::Problem& right,
                                                    std::span<const ComparedTensor> right_tensors) {
  MatchedTensors matched;
  bool has_output = false;
  for (std::size_t place = 0; place < left_tensors.size(); ++place) {
    const ComparedTensor& tensor = left_tensors[place];
    // A tensor without elements on one side has nothing to match.
    const auto found = std::ranges::find(right_tensors, tensor.tensor, &ComparedTensor::tensor);
    if (found == right_tensors.end()) {
      continue;
    }
    const auto pairs = invariance.matched == nullptr
                           ? same_places(tensor.layout)
                           : invariance.matched(left, right, tensor.tensor);
    if (invariance.matched == nullptr && !has_same_live(tensor.layout, found->layout)) {
      return absl::InternalError(absl::StrCat(
          "the live elements of `", tensor.layout.name, "` are not the same in both calls"));
    }
    auto ranges = ranges_of(pairs, tensor.layout, found->layout);
    if (!ranges.ok()) {
      return ranges.status();
    }
    if (!ranges->empty()) {
      has_output |= tensor.is_output;
      matched.matches_.push_back(
          {.left = tensor,
           .left_place = place,
           .right = found->layout,
           .right_place = static_cast<std::size_t>(found - right_tensors.begin()),
           .ranges = *std::move(ranges)});
    }
  }
  if (!has_output) {
    return absl::InternalError("no element of an output is matched");
  }
  return matched;
}

std::optional<v1::Drift> MatchedTensors::find_drift(const ArmPlan& left_arm,
                                                    const HostOutputs& left,
                                                    const ArmPlan& right_arm,
                                                    const HostOutputs& right) const {
  for (const Match& match : matches_) {
    if (is_left(left_arm, match.left) || is_left(right_arm, match.left)) {
      continue;
    }
    auto drift = profiler::find_drift(match.left.layout,
                                      left.bytes[match.left_place].data(),
                                      right.bytes[match.right_place].data(),
                                      match.ranges);
    if (drift.has_value()) {
      return drift;
    }
  }
  return std::nullopt;
}

std::string MatchedTensors::describe(const v1::Drift& drift) const {
  std::string text = profiler::describe(drift);
  const auto match = std::ranges::find_if(
      matches_, [&](const Match& each) { return each.left.layout.name == drift.tensor(); });
  if (match == matches_.end()) {
    return text;
  }
  const std::vector<std::int64_t> first(drift.first_index().begin(), drift.first_index().end());
  std::int64_t element = 0;
  for (std::size_t axis = 0; axis < first.size(); ++axis) {
    const std::vector<std::int64_t>& shape = match->left.layout.shape;
    element = element * (shape.empty() ? 1 : shape[axis]) + first[axis];
  }
  for (const MatchedRange& range : match->ranges) {
    if (element < range.begin || element >= range.end) {
      continue;
    }
    const auto there = coordinates(match->right, range.found_begin + element - range.begin);
    if (there != first) {
      absl::StrAppend(&text, ", in the right call ", place_of(drift.tensor(), there));
    }
    break;
  }
  return text;
}

std::int64_t MatchedTensors::count_nontrivial(const HostOutputs& left) const {
  std::int64_t count = 0;
  for (const Match& match : matches_) {
    if (!match.left.is_output) {
      continue;
    }
    TensorLayout layout = match.left.layout;
    layout.live.clear();
    for (const MatchedRange& range : match.ranges) {
      layout.live.push_back({.begin = range.begin, .end = range.end});
    }
    count += profiler::count_nontrivial(layout, left.bytes[match.left_place].data());
  }
  return count;
}

}  // namespace assay::profiler
