#include "kernels/tree_attention/reference.h"

#include "kernels/thread_pool.h"
#include "kernels/tree_attention/data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

// Of the weights' rounding to bf16; fp32 sums are far below.
constexpr double kWeightTolerance = 0x1p-7;

double from_bits(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Half a bf16 ulp at x, never below that of the smallest normal value.
double half_ulp(double x) {
  constexpr double kLeast = 0x1p-134;
  return x == 0 ? kLeast : std::max(kLeast, std::ldexp(1.0, std::ilogb(x) - 8));
}

struct Row {
  const StreamView* view = nullptr;
  std::size_t local = 0;
};

std::vector<KeyId> visible_keys(const Plan& plan, const Row& row) {
  const StreamView& view = *row.view;
  std::vector<KeyId> keys;
  const std::int32_t committed = plan.whole[static_cast<std::size_t>(view.stream)].committed;
  keys.reserve(static_cast<std::size_t>(committed) + view.accepted.size() + kMostDepth);
  for (std::int32_t i = 0; i < committed; ++i) {
    keys.push_back({.stream = view.stream, .index = i, .is_drafted = false});
  }
  for (const std::int32_t accepted : view.accepted) {
    keys.push_back({.stream = view.stream, .index = accepted, .is_drafted = true});
  }
  const auto first_of_path = std::ssize(keys);
  for (auto at = static_cast<std::int32_t>(row.local); at >= 0;
       at = view.parents[static_cast<std::size_t>(at)]) {
    keys.push_back({.stream = view.stream,
                    .index = view.rows[static_cast<std::size_t>(at)],
                    .is_drafted = true});
  }
  std::reverse(keys.begin() + first_of_path, keys.end());
  return keys;
}

template <std::size_t kDim>
using Vector = std::array<double, kDim>;

template <std::size_t kDim, class Fill>
Vector<kDim> made_by(const Fill& fill) {
  std::array<std::uint16_t, kDim> bits;
  fill(bits);
  Vector<kDim> values;
  std::ranges::transform(bits, values.begin(), from_bits);
  return values;
}

template <std::size_t kDim>
double dot_of(const Vector<kDim>& a, const Vector<kDim>& b) {
  std::array<double, 8> parts = {};
  for (std::size_t d = 0; d < kDim; d += parts.size()) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      parts[part] += a[d + part] * b[d + part];
    }
  }
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

template <std::size_t kDim>
void add_weighted(const Vector<kDim>& v, double weight, Vector<kDim>& sum) {
  for (std::size_t d = 0; d < kDim; ++d) {
    sum[d] += weight * v[d];
  }
}

struct HeadAnswer {
  double* values;             // [dim]
  double* tolerances;         // [dim]
  std::int32_t* num_visible;  // [dim]
};

// All query heads of one key head, since they read the same keys.
template <std::size_t kDim>
void attend(const Plan& plan, const Row& row, std::int32_t kv_head, const HeadAnswer& first) {
  const auto group = static_cast<std::size_t>(plan.num_heads / plan.num_kv_heads);
  const std::vector<KeyId> keys = visible_keys(plan, row);
  const double scale = 1.0 / std::sqrt(static_cast<double>(kDim));

  std::vector<Vector<kDim>> queries;
  for (std::size_t h = 0; h < group; ++h) {
    const auto head = kv_head * static_cast<std::int32_t>(group) + static_cast<std::int32_t>(h);
    queries.push_back(made_by<kDim>([&](std::span<std::uint16_t> bits) {
      fill_query(plan, row.view->stream, row.view->rows[row.local], head, bits);
    }));
  }
  std::vector<std::vector<double>> weights(group, std::vector<double>(keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Vector<kDim> k = made_by<kDim>(
        [&](std::span<std::uint16_t> bits) { fill_key(plan, keys[i], kv_head, bits); });
    for (std::size_t h = 0; h < group; ++h) {
      weights[h][i] = scale * dot_of(queries[h], k);
    }
  }

  std::vector<double> totals(group, 0.0);
  for (std::size_t h = 0; h < group; ++h) {
    const double largest = *std::ranges::max_element(weights[h]);
    for (double& weight : weights[h]) {
      weight = std::exp(weight - largest);
      totals[h] += weight;
    }
  }

  std::vector<Vector<kDim>> sums(group, Vector<kDim>{});
  std::vector<Vector<kDim>> magnitudes(group, Vector<kDim>{});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Vector<kDim> v = made_by<kDim>(
        [&](std::span<std::uint16_t> bits) { fill_value(plan, keys[i], kv_head, bits); });
    Vector<kDim> magnitude;
    std::ranges::transform(v, magnitude.begin(), [](double one) { return std::fabs(one); });
    for (std::size_t h = 0; h < group; ++h) {
      add_weighted(v, weights[h][i], sums[h]);
      add_weighted(magnitude, weights[h][i], magnitudes[h]);
    }
  }
  for (std::size_t i = 0; i < group * kDim; ++i) {
    const double value = sums[i / kDim][i % kDim] / totals[i / kDim];
    const double magnitude = magnitudes[i / kDim][i % kDim] / totals[i / kDim];
    first.values[i] = value;
    first.tolerances[i] = kWeightTolerance * magnitude + half_ulp(value);
    first.num_visible[i] = static_cast<std::int32_t>(keys.size());
  }
}

}  // namespace

Reference tree_attention_reference(const Plan& plan) {
  std::vector<Row> rows;
  for (const StreamView& view : plan.streams) {
    for (std::size_t local = 0; local < view.rows.size(); ++local) {
      rows.push_back({.view = &view, .local = local});
    }
  }
  const std::size_t per_head = static_cast<std::size_t>(plan.num_heads / plan.num_kv_heads) *
                               static_cast<std::size_t>(plan.dim);
  const auto num_kv_heads = static_cast<std::size_t>(plan.num_kv_heads);
  const std::size_t size = rows.size() * num_kv_heads * per_head;
  Reference reference;
  reference.values.resize(size);
  reference.tolerances.resize(size);
  reference.num_terms.resize(size);
  shared_threads().for_each(
      static_cast<int>(available_processors().size()),
      static_cast<std::int64_t>(rows.size() * num_kv_heads),
      [&](std::int64_t index) {
        const auto task = static_cast<std::size_t>(index);
        const HeadAnswer first = {.values = reference.values.data() + task * per_head,
                                  .tolerances = reference.tolerances.data() + task * per_head,
                                  .num_visible = reference.num_terms.data() + task * per_head};
        const auto kernel = plan.dim == 128 ? &attend<128> : &attend<256>;
        kernel(
            plan, rows[task / num_kv_heads], static_cast<std::int32_t>(task % num_kv_heads), first);
      });
  return reference;
}

}  // namespace assay::kernels::tree_attention
