#include "tests/kernels/simt/block_case.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::kernels::block_attention {
namespace {

constexpr std::uint16_t kNaN = 0xFFFF;
constexpr std::int64_t kSlack = 24;        // keys behind a head's context
constexpr std::int64_t kFirstElement = 8;  // a base that is only just aligned

std::size_t size_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

bool is_same(float a, float b) {
  return bits_of(a) == bits_of(b);
}

}  // namespace

BlockCase::BlockCase(CaseSetup setup, simt::Step step) : setup_(std::move(setup)), step_(step) {
  shape_.num_streams = static_cast<std::int32_t>(setup_.contexts.size());
  shape_.width = setup_.width;
  shape_.num_heads = setup_.num_heads;
  shape_.num_kv_heads = setup_.num_kv_heads;
  shape_.dim = setup_.dim;
  shape_.window = setup_.window;
  shape_.is_causal = setup_.is_causal;
  shape_.scale = 1.0F / std::sqrt(static_cast<float>(setup_.dim));
  fill();
  for (std::int32_t row = 0; row < shape_.num_rows(); ++row) {
    for (std::int32_t head = 0; head < shape_.num_heads; ++head) {
      wanted_.push_back(attention::model_of(model_row(row, head)));
    }
  }
  poison();
}

// From the definition: context key c is seen if n + r - c <= window.
attention::KeyRange BlockCase::range_of(std::int32_t context, std::int32_t row) const {
  std::int32_t begin = 0;
  while (begin < context && std::int64_t{context} + row - begin > setup_.window) {
    ++begin;
  }
  return {begin, context + (setup_.is_causal ? row + 1 : setup_.width)};
}

bool BlockCase::is_seen(std::int32_t stream, std::int32_t key) const {
  return key >= range_of(setup_.contexts[size_of(stream)], 0).begin;
}

void BlockCase::fill() {
  std::mt19937_64 random(setup_.seed);
  std::normal_distribution<float> normal;
  const auto draw = [&] { return attention::to_bf16(normal(random)); };
  q_.resize(size_of(std::int64_t{shape_.num_rows()} * shape_.num_heads * shape_.dim));
  k_block_.resize(size_of(std::int64_t{shape_.num_rows()} * shape_.num_kv_heads * shape_.dim));
  v_block_.resize(k_block_.size());
  for (std::vector<std::uint16_t>* values : {&q_, &k_block_, &v_block_}) {
    std::ranges::generate(*values, draw);
  }
  std::int64_t next = kFirstElement;
  for (const std::int32_t context : setup_.contexts) {
    const std::int64_t stride = (context + kSlack) * shape_.dim;
    table_.insert(table_.end(), {next, next + kFirstElement, stride});
    next += stride * shape_.num_kv_heads + 2 * kFirstElement;
    shape_.most_context = std::max(shape_.most_context, context);
    shape_.streams.push_back(load_of(shape_, context));
    shape_.num_groups =
        std::max(shape_.num_groups, attention::num_groups_of(context + shape_.width));
  }
  k_context_.assign(size_of(next), kNaN);
  v_context_.assign(size_of(next), kNaN);
  for (std::int32_t s = 0; s < shape_.num_streams; ++s) {
    for (std::int64_t head = 0; head < shape_.num_kv_heads; ++head) {
      for (std::int32_t key = 0; key < setup_.contexts[size_of(s)]; ++key) {
        if (!is_seen(s, key)) {
          continue;
        }
        const std::int64_t place = head * table_[size_of(3 * s + 2)] + key * shape_.dim;
        std::generate_n(k_context_.begin() + table_[size_of(3 * s)] + place, shape_.dim, draw);
        std::generate_n(v_context_.begin() + table_[size_of(3 * s + 1)] + place, shape_.dim, draw);
      }
    }
  }
}

attention::ModelRow BlockCase::model_row(std::int32_t row, std::int32_t head) const {
  const std::int32_t stream = row / setup_.width;
  const std::int32_t context = setup_.contexts[size_of(stream)];
  const std::int64_t key_head = head / shape_.group();
  const auto row_of = [=, this](const std::vector<std::uint16_t>& cached,
                                const std::vector<std::uint16_t>& own,
                                std::int64_t offset,
                                int position) {
    if (position < context) {
      return cached.data() + offset + key_head * table_[size_of(3 * stream + 2)] +
             std::int64_t{position} * shape_.dim;
    }
    const std::int64_t place =
        key_head * shape_.num_rows() + stream * setup_.width + position - context;
    return own.data() + place * shape_.dim;
  };
  return {
      .query = q_.data() + (std::int64_t{head} * shape_.num_rows() + row) * shape_.dim,
      .key =
          [=, this](int position) {
            return row_of(k_context_, k_block_, table_[size_of(3 * stream)], position);
          },
      .value =
          [=, this](int position) {
            return row_of(v_context_, v_block_, table_[size_of(3 * stream + 1)], position);
          },
      .range = range_of(context, row % setup_.width),
      .dim = shape_.dim,
      .scale = shape_.scale,
      .step = step_,
  };
}

void BlockCase::poison() {
  const std::int64_t states = std::int64_t{shape_.num_rows()} * shape_.num_heads;
  const float nan = float_of(0xFFFFFFFFU);
  out_.assign(size_of(states * shape_.dim), kNaN);
  result_.assign(size_of(states * shape_.dim), nan);
  const auto assign =
      [&](std::int64_t count, std::vector<float>& m, std::vector<float>& l, std::vector<float>& o) {
        m.assign(size_of(count * states), nan);
        l.assign(size_of(count * states), nan);
        o.assign(size_of(count * states * shape_.dim), nan);
      };
  assign(shape_.num_groups, partial_m_, partial_l_, partial_o_);
  assign(attention::num_runs_of(shape_.num_groups), run_m_, run_l_, run_o_);
  assign(attention::kSlices * shape_.num_groups, slice_m_, slice_l_, slice_o_);
}

Params BlockCase::params() {
  return {
      .q = q_.data(),
      .k_block = k_block_.data(),
      .v_block = v_block_.data(),
      .k_context = k_context_.data(),
      .v_context = v_context_.data(),
      .table = table_.data(),
      .lengths = setup_.contexts.data(),
      .out = out_.data(),
      .result = result_.data(),
      .partial_m = partial_m_.data(),
      .partial_l = partial_l_.data(),
      .partial_o = partial_o_.data(),
      .run_m = run_m_.data(),
      .run_l = run_l_.data(),
      .run_o = run_o_.data(),
      .slice_m = slice_m_.data(),
      .slice_l = slice_l_.data(),
      .slice_o = slice_o_.data(),
      .num_streams = shape_.num_streams,
      .width = shape_.width,
      .num_heads = shape_.num_heads,
      .num_kv_heads = shape_.num_kv_heads,
      .num_groups = shape_.num_groups,
      .window = shape_.window,
      .is_causal = shape_.is_causal,
      .scale = shape_.scale,
  };
}

std::string BlockCase::difference(bool leaves_partials, bool has_result) const {
  const std::int64_t states = std::int64_t{shape_.num_rows()} * shape_.num_heads;
  for (std::int64_t state = 0; state < states; ++state) {
    const attention::ModelResult& wanted = wanted_[size_of(state)];
    const std::string where = "row " + std::to_string(state / shape_.num_heads) + " head " +
                              std::to_string(state % shape_.num_heads);
    for (std::size_t g = 0; g < wanted.groups.size() && !leaves_partials; ++g) {
      if (!wanted.groups[g].has_value()) {
        continue;
      }
      const std::int64_t place = static_cast<std::int64_t>(g) * states + state;
      const std::string text = where + " group " + std::to_string(g);
      if (!is_same(wanted.groups[g]->m, partial_m_[size_of(place)])) {
        return text + " m";
      }
      if (!is_same(wanted.groups[g]->l, partial_l_[size_of(place)])) {
        return text + " l";
      }
      for (std::int32_t d = 0; d < shape_.dim; ++d) {
        if (!is_same(wanted.groups[g]->o[size_of(d)],
                     partial_o_[size_of(place * shape_.dim + d)])) {
          return text + " o " + std::to_string(d);
        }
      }
    }
    for (std::int32_t d = 0; d < shape_.dim; ++d) {
      const std::size_t place = size_of(state * shape_.dim + d);
      const float value = attention::finish(wanted.total.o[size_of(d)], wanted.total.l);
      if (has_result && !is_same(value, result_[place])) {
        return where + " result " + std::to_string(d);
      }
      if (attention::to_bf16(value) != out_[place]) {
        return where + " out " + std::to_string(d);
      }
    }
  }
  return "";
}

}  // namespace assay::kernels::block_attention
