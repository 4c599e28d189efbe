#include "kernels/block_attention/reference.h"

#include "kernels/thread_pool.h"

#include <algorithm>
#include <cmath>

namespace assay::kernels::block_attention {
namespace {

// Half a unit in the last place of bf16, which has eight bits.
double half_ulp(double value) {
  constexpr double kLeast = 0x1p-134;
  if (value == 0) {
    return kLeast;
  }
  return std::max(kLeast, std::ldexp(1.0, std::ilogb(value) - 8));
}

bool sees(const ReferenceInput& input, std::int64_t context, std::int64_t row, std::int64_t key) {
  if (key < context) {
    return context + row - key <= input.window;
  }
  return !input.is_causal || key - context <= row;
}

// The keys of one key head that a row of its stream sees, and their values.
struct Keys {
  std::vector<std::int64_t> positions;
  std::vector<float> keys;    // [positions, dim]
  std::vector<float> values;  // [positions, dim]
};

Keys read_keys(const ReferenceInput& input, std::size_t stream, std::int64_t kv_head) {
  const std::int64_t context = input.contexts[stream];
  Keys read;
  for (std::int64_t key = 0; key < context + input.width; ++key) {
    bool is_seen = false;
    for (std::int64_t row = 0; row < input.width; ++row) {
      is_seen = is_seen || sees(input, context, row, key);
    }
    if (is_seen) {
      read.positions.push_back(key);
    }
  }
  const auto dim = static_cast<std::size_t>(input.dim);
  read.keys.resize(read.positions.size() * dim);
  read.values.resize(read.positions.size() * dim);
  for (std::size_t i = 0; i < read.positions.size(); ++i) {
    input.read_key(stream, kv_head, read.positions[i], std::span(read.keys).subspan(i * dim, dim));
    input.read_value(
        stream, kv_head, read.positions[i], std::span(read.values).subspan(i * dim, dim));
  }
  return read;
}

void attend(const ReferenceInput& input,
            std::span<const float> query,
            const Keys& keys,
            const std::vector<std::size_t>& visible,
            std::span<double> out,
            std::span<double> tolerances) {
  const std::size_t dim = query.size();
  std::vector<double> scores(visible.size());
  for (std::size_t i = 0; i < visible.size(); ++i) {
    double dot = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      dot += double{query[d]} * double{keys.keys[visible[i] * dim + d]};
    }
    scores[i] = dot * input.scale;
  }

  const double largest = *std::ranges::max_element(scores);
  std::vector<double> magnitude(dim);
  double total = 0;
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const double p = std::exp(scores[i] - largest);
    total += p;
    for (std::size_t d = 0; d < dim; ++d) {
      const double v = keys.values[visible[i] * dim + d];
      out[d] += p * v;
      magnitude[d] += p * std::fabs(v);
    }
  }
  for (std::size_t d = 0; d < dim; ++d) {
    out[d] /= total;
    tolerances[d] = 0x1p-7 * (magnitude[d] / total) + half_ulp(out[d]);
  }
}

}  // namespace

Reference block_attention_reference(const ReferenceInput& input) {
  const auto dim = static_cast<std::size_t>(input.dim);
  const auto num_streams = static_cast<std::int64_t>(input.contexts.size());
  const std::int64_t group = input.num_heads / input.num_kv_heads;
  Reference reference;
  reference.values.resize(
      static_cast<std::size_t>(num_streams * input.width * input.num_heads * input.dim));
  reference.tolerances.resize(reference.values.size());
  reference.num_terms.resize(reference.values.size());

  const int num_threads = static_cast<int>(available_processors().size());
  shared_threads().for_each(num_threads, num_streams * input.num_kv_heads, [&](std::int64_t index) {
    const auto stream = static_cast<std::size_t>(index / input.num_kv_heads);
    const std::int64_t kv_head = index % input.num_kv_heads;
    const std::int64_t context = input.contexts[stream];
    const Keys keys = read_keys(input, stream, kv_head);
    std::vector<float> query(dim);
    for (std::int64_t row = 0; row < input.width; ++row) {
      std::vector<std::size_t> visible;
      for (std::size_t i = 0; i < keys.positions.size(); ++i) {
        if (sees(input, context, row, keys.positions[i])) {
          visible.push_back(i);
        }
      }
      for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const auto first = static_cast<std::size_t>(
            ((static_cast<std::int64_t>(stream) * input.width + row) * input.num_heads + head) *
            input.dim);
        input.read_query(stream, head, context + row, query);
        attend(input,
               query,
               keys,
               visible,
               std::span(reference.values).subspan(first, dim),
               std::span(reference.tolerances).subspan(first, dim));
        std::fill_n(reference.num_terms.begin() + static_cast<std::ptrdiff_t>(first),
                    dim,
                    static_cast<std::int32_t>(visible.size()));
      }
    }
  });
  return reference;
}

}  // namespace assay::kernels::block_attention
