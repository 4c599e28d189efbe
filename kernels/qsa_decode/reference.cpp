#include "kernels/qsa_decode/reference.h"

#include "kernels/qsa_decode/contract.h"
#include "kernels/thread_pool.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::kernels::qsa_decode {
namespace {

// The bound on |out - reference| of one element is
//   2^-24 * A * (c1 + c2 * S) + 2^-126 * sum |v|,
// A = sum p|v| / sum p, S = max over cells of scale * sum |q k|, u = 2^-24.
//
// c2: a score takes 8 roundings in its lane's chain and 5 in the tree, 13 u S. The differences
// score - m and m - M are at most 2 S each and round once, 4 u S; an exponential that multiplies
// its argument by log2 e in fp32 first, as the hardware's does, adds as much again. Together 21 u S
// in the exponent of a weight, in the numerator and in the denominator: 42.
// c1: a value passes 64 fma of its chunk and one of each chunk of the merge; the denominator 6 adds
// and one fma of each chunk; two exponentials of 2 ulp (4 u each) stand in both; one division:
// 64 + n + 6 + n + 16 + 1 = 87 + 2 n. Both are rounded up for the products of small terms.
constexpr double kUnit = 0x1p-24;
constexpr double kScoreFactor = 44;
constexpr double kChainFactor = 90;
constexpr double kChunkFactor = 2;

struct Rows {
  std::vector<double> keys;    // [visible, 256]
  std::vector<double> values;  // [visible, 256]
};

Rows read_rows(const ReferenceInput& input, const std::vector<std::int32_t>& cells, int kv_head) {
  Rows rows;
  rows.keys.resize(cells.size() * kHeadDim);
  rows.values.resize(cells.size() * kHeadDim);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    input.read_row(cells[i],
                   kv_head,
                   true,
                   std::span<double, kHeadDim>(rows.keys.data() + i * kHeadDim, kHeadDim));
    input.read_row(cells[i],
                   kv_head,
                   false,
                   std::span<double, kHeadDim>(rows.values.data() + i * kHeadDim, kHeadDim));
  }
  return rows;
}

void attend(const float* q,
            const Rows& rows,
            std::size_t num_cells,
            double chain_factor,
            double* out,
            double* tolerance) {
  std::vector<double> scores(num_cells);
  double largest_magnitude = 0;
  for (std::size_t i = 0; i < num_cells; ++i) {
    double dot = 0;
    double magnitude = 0;
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      const double product = q[d] * rows.keys[i * kHeadDim + d];
      dot += product;
      magnitude += std::fabs(product);
    }
    scores[i] = dot * kScoreScale;
    largest_magnitude = std::max(largest_magnitude, magnitude * kScoreScale);
  }

  const double largest_score = *std::ranges::max_element(scores);
  std::array<double, kHeadDim> sum = {};
  std::array<double, kHeadDim> weighted_magnitude = {};
  std::array<double, kHeadDim> plain_magnitude = {};
  double total = 0;
  for (std::size_t i = 0; i < num_cells; ++i) {
    const double p = std::exp(scores[i] - largest_score);
    total += p;
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      const double v = rows.values[i * kHeadDim + d];
      sum[d] += p * v;
      weighted_magnitude[d] += p * std::fabs(v);
      plain_magnitude[d] += std::fabs(v);
    }
  }
  for (std::size_t d = 0; d < kHeadDim; ++d) {
    out[d] = sum[d] / total;
    tolerance[d] = kUnit * (weighted_magnitude[d] / total) *
                       (chain_factor + kScoreFactor * largest_magnitude) +
                   0x1p-126 * plain_magnitude[d];
  }
}

}  // namespace

Reference qsa_decode_reference(const ReferenceInput& input) {
  const std::size_t num_queries = input.visible.size();
  Reference reference;
  reference.values.assign(num_queries * kNumHeads * kHeadDim, 0.0);
  // Nothing to attend is exactly zero; the least bound keeps a share of it defined.
  reference.tolerances.assign(reference.values.size(), 0x1p-149);

  const int num_threads = static_cast<int>(available_processors().size());
  shared_threads().for_each(
      num_threads, static_cast<std::int64_t>(num_queries) * kNumKvHeads, [&](std::int64_t index) {
        const auto query = static_cast<std::size_t>(index / kNumKvHeads);
        const int kv_head = static_cast<int>(index % kNumKvHeads);
        const std::vector<std::int32_t>& cells = input.visible[query];
        if (cells.empty()) {
          return;
        }
        const Rows rows = read_rows(input, cells, kv_head);
        const double chain_factor = kChainFactor + kChunkFactor * input.num_live_chunks[query];
        for (int h = kv_head * kGroup; h < (kv_head + 1) * kGroup; ++h) {
          const std::size_t first = (query * kNumHeads + static_cast<std::size_t>(h)) * kHeadDim;
          attend(input.q.data() + first,
                 rows,
                 cells.size(),
                 chain_factor,
                 reference.values.data() + first,
                 reference.tolerances.data() + first);
        }
      });
  return reference;
}

}  // namespace assay::kernels::qsa_decode
