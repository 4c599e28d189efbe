// The bit contract of kernels/attention/contract.h in plain loops, for one (row, query head).
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/softmax.h"
#include "tests/kernels/simt/block.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace assay::kernels::attention {

// A step whose order shows: 16 fused multiply-adds, ascending.
inline float chain_step(float acc, const std::uint16_t* a, const std::uint16_t* b) {
  for (int k = 0; k < kStepKeys; ++k) {
    acc = fma_bits(from_bf16(a[k]), from_bf16(b[k]), acc);
  }
  return acc;
}

struct ModelState {
  float m = 0;
  float l = 0;
  std::vector<float> o;
};

using MaybeState = std::optional<ModelState>;

inline void fold_model(MaybeState& total, const MaybeState& later) {
  if (!later.has_value()) {
    return;
  }
  if (!total.has_value()) {
    total = later;
    return;
  }
  const FoldFactors factors = fold_factors(total->m, later->m);
  total->m = factors.m;
  total->l = factors.fold(total->l, later->l);
  for (std::size_t i = 0; i < total->o.size(); ++i) {
    total->o[i] = factors.fold(total->o[i], later->o[i]);
  }
}

// One row and head: its query, and where the rows of a position's key and value lie.
struct ModelRow {
  const std::uint16_t* query = nullptr;
  std::function<const std::uint16_t*(int)> key;
  std::function<const std::uint16_t*(int)> value;
  KeyRange range;
  int dim = 0;
  float scale = 0;
  simt::Step step = nullptr;

  bool sees(int position) const { return position >= range.begin && position < range.end; }

  MaybeState slice(int number) const {
    const int first = number * kSliceKeys;
    if (first >= range.end || first + kSliceKeys <= range.begin) {
      return {};
    }
    std::array<float, kSliceKeys> scores = {};
    float max = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < kSliceKeys; ++i) {
      if (sees(first + i)) {
        float dot = 0;
        for (int at = 0; at < dim; at += kStepKeys) {
          dot = step(dot, query + at, key(first + i) + at);
        }
        scores[static_cast<std::size_t>(i)] = score_of(dot, scale);
        max = larger_of(max, scores[static_cast<std::size_t>(i)]);
      }
    }
    ModelState state = {.m = max, .l = 0, .o = std::vector<float>(static_cast<std::size_t>(dim))};
    float sums[kSumLanes] = {};
    std::array<std::uint16_t, kSliceKeys> weights = {};
    for (int i = 0; i < kSliceKeys; ++i) {
      if (sees(first + i)) {
        const float weight = weight_of(scores[static_cast<std::size_t>(i)], max);
        sums[i % kSumLanes] = add_bits(sums[i % kSumLanes], weight);
        weights[static_cast<std::size_t>(i)] = to_bf16(weight);
      }
    }
    state.l = sum_of_lanes(sums);
    for (int d = 0; d < dim; ++d) {
      float& o = state.o[static_cast<std::size_t>(d)];
      for (int unit = 0; unit < kSliceKeys; unit += kStepKeys) {
        std::uint16_t values[kStepKeys];
        for (int i = 0; i < kStepKeys; ++i) {
          values[i] = sees(first + unit + i) ? value(first + unit + i)[d] : std::uint16_t{0};
        }
        o = step(o, weights.data() + unit, values);
      }
    }
    return state;
  }

  MaybeState group(int number) const {
    MaybeState total;
    for (int i = 0; i < kSlices; ++i) {
      fold_model(total, slice(number * kSlices + i));
    }
    return total;
  }
};

// A row's groups from 0, and their fold.
struct ModelResult {
  std::vector<MaybeState> groups;
  ModelState total;
};

inline ModelResult model_of(const ModelRow& row) {
  ModelResult result;
  MaybeState total;
  MaybeState run;
  for (int group = 0; group < num_groups_of(row.range.end); ++group) {
    result.groups.push_back(row.group(group));
    fold_model(run, result.groups.back());
    if ((group + 1) % kRunGroups == 0 || group + 1 == num_groups_of(row.range.end)) {
      fold_model(total, run);
      run.reset();
    }
  }
  result.total = *total;
  return result;
}

}  // namespace assay::kernels::attention
