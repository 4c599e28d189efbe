#include "tests/kernels/attention/naive_attention.h"

#include "kernels/attention/tensor_core.h"
#include "kernels/numerics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::kernels::attention {
namespace {

std::uint16_t nearest_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rest = bits & 0xffff;
  std::uint32_t high = bits >> 16;
  if (rest > 0x8000 || (rest == 0x8000 && high % 2 == 1)) {
    ++high;
  }
  return static_cast<std::uint16_t>(high);
}

// `b` into `a`, neither of which changes the other's place.
NaiveState fold(const NaiveState& a, const NaiveState& b) {
  if (b.l == 0.0F) {
    return a;
  }
  if (a.l == 0.0F) {
    return b;
  }
  NaiveState sum;
  sum.m = std::max(a.m, b.m);
  const float a_factor = exp_bits(a.m - sum.m);
  const float b_factor = exp_bits(b.m - sum.m);
  sum.l = std::fmaf(b.l, b_factor, a.l * a_factor);
  for (std::size_t d = 0; d < a.o.size(); ++d) {
    sum.o.push_back(std::fmaf(b.o[d], b_factor, a.o[d] * a_factor));
  }
  return sum;
}

// Positions [first, first + 128) that lie in [begin, end).
NaiveState slice(const std::vector<std::uint16_t>& q,
                 float scale,
                 std::int32_t first,
                 std::int32_t begin,
                 std::int32_t end,
                 const RowAt& key_at,
                 const RowAt& value_at) {
  const std::size_t dim = q.size();
  NaiveState state;
  std::array<float, 128> scores = {};
  std::array<bool, 128> seen = {};
  bool sees_any = false;
  for (std::size_t key = 0; key < 128; ++key) {
    const std::int32_t position = first + static_cast<std::int32_t>(key);
    seen[key] = position >= begin && position < end;
    if (!seen[key]) {
      continue;
    }
    float dot = 0.0F;
    for (std::size_t d = 0; d < dim; d += 16) {
      dot = tensor_core_step(dot, q.data() + d, key_at(position) + d);
    }
    scores[key] = std::fmaf(dot, scale, 0.0F);
    state.m = sees_any ? std::max(state.m, scores[key]) : scores[key];
    sees_any = true;
  }
  if (!sees_any) {
    return {};
  }

  std::array<float, 8> sums = {};
  std::array<std::uint16_t, 128> weights = {};
  for (std::size_t key = 0; key < 128; ++key) {
    const float weight = seen[key] ? exp_bits(scores[key] - state.m) : 0.0F;
    sums[key % 8] += weight;
    weights[key] = nearest_bf16(weight);
  }
  state.l =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));

  for (std::size_t d = 0; d < dim; ++d) {
    float sum = 0.0F;
    for (std::size_t step = 0; step < 128; step += 16) {
      std::array<std::uint16_t, 16> values = {};
      for (std::size_t k = 0; k < 16; ++k) {
        if (seen[step + k]) {
          values[k] = value_at(first + static_cast<std::int32_t>(step + k))[d];
        }
      }
      sum = tensor_core_step(sum, weights.data() + step, values.data());
    }
    state.o.push_back(sum);
  }
  return state;
}

}  // namespace

NaiveRow naive_attention(const std::vector<std::uint16_t>& q,
                         float scale,
                         std::int32_t begin,
                         std::int32_t end,
                         const RowAt& key_at,
                         const RowAt& value_at) {
  NaiveRow row;
  for (std::int32_t group = 0; group * 512 < end; ++group) {
    NaiveState state;
    for (std::int32_t number = 0; number < 4; ++number) {
      state =
          fold(state, slice(q, scale, group * 512 + number * 128, begin, end, key_at, value_at));
    }
    row.groups.push_back(state);
  }

  NaiveState total;
  for (std::size_t run = 0; run < row.groups.size(); run += 8) {
    NaiveState state;
    for (std::size_t group = run; group < std::min(run + 8, row.groups.size()); ++group) {
      state = fold(state, row.groups[group]);
    }
    total = fold(total, state);
  }
  for (const float o : total.o) {
    row.result.push_back(o / total.l);
    row.out.push_back(nearest_bf16(o / total.l));
  }
  return row;
}

}  // namespace assay::kernels::attention
